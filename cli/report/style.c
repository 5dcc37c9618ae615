/* The style and the script of a report's page. Colours follow the reader's system, print is light, and without the script the
 * table stands in the order of the times. */
#include "cli/draw/svg.h"
#include "cli/report/report.h"

static const char
    light[] = ":root{color-scheme:light "
              "dark;--ink:#1b1e23;--mute:#5d6570;--line:#e1e4e8;--paper:#fff;--soft:#f5f7f9;--link:"
              "#0060a0}\n",
    dark[] = "@media screen and "
             "(prefers-color-scheme:dark){:root{--ink:#e6e9ed;--mute:#9ba5b0;--line:#2b3138;--"
             "paper:#14171b;--soft:#1c2126;--link:#7cc0f5}}\n",
    layout[] =
        "*{box-sizing:border-box}"
        "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 "
        "system-ui,-apple-system,\"Segoe UI\",\"Helvetica Neue\",Arial,\"Liberation "
        "Sans\",sans-serif}"
        "main{max-width:1240px;margin:0 auto;padding:2rem 1.25rem 4rem}"
        "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}h2{font-size:1.3rem;margin:3rem 0 "
        ".4rem;padding-top:.8rem;border-top:1px solid var(--line)}"
        "h3{font-size:1rem;margin:0 0 "
        ".1rem}.figures+h3{margin-top:2rem}p{max-width:46rem;margin:.3rem 0 "
        ".8rem}a{color:var(--link)}"
        "p.mute{max-width:60rem}.mute,figcaption,.facts{color:var(--mute)}.facts{max-width:60rem}"
        ".answer{list-style:none;margin:1.4rem 0 0;padding:0}.answer>li{margin:0 0 "
        ".9rem;padding:.1rem 0 .1rem .9rem;border-left:3px solid #009e73;max-width:60rem}"
        ".answer .matrix{display:block;font-weight:600}"
        ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,500px),1fr));"
        "gap:2rem 2.5rem;align-items:start;margin-top:1.2rem}"
        "figure{margin:0;min-width:0;break-inside:avoid}figure "
        "svg{display:block;width:100%;height:auto}"
        "figcaption{font-size:.85rem;line-height:1.4;margin:.1rem 0 .7rem;max-width:36rem}"
        ".setting{color:var(--mute);font-weight:400;font-size:.9rem}"
        ".wide{overflow-x:auto;margin:.6rem 0}"
        "table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums;line-"
        "height:1.35}"
        "td,th{padding:.22rem .42rem;text-align:right;white-space:nowrap}"
        "td.left,th.left{text-align:left}thead th{border-bottom:1.5px solid "
        "var(--ink);vertical-align:bottom}"
        "tbody tr{border-bottom:1px solid var(--line)}tbody tr:hover{background:var(--soft)}tbody "
        "tr:last-child{border-bottom:1.5px solid var(--ink)}"
        ".reference td{color:var(--mute)}"
        "th button{all:unset;cursor:pointer;font-weight:600}th button:focus-visible{outline:2px "
        "solid var(--link)}"
        "th[aria-sort] button::after{content:\" \\25BE\"}th[aria-sort=descending] "
        "button::after{content:\" \\25B4\"}"
        ".words td,.words th{white-space:normal;vertical-align:top}.words "
        "td:last-child{max-width:44rem}"
        "dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:.6rem "
        "0;font-size:.9rem}dt{color:var(--mute)}dd{margin:0;overflow-wrap:anywhere}"
        "code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,\"Liberation "
        "Mono\",monospace;overflow-wrap:anywhere}"
        "@media (max-width:640px){main{padding:1.2rem .9rem "
        "3rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .4rem}}"
        "@page{margin:14mm}"
        "@media "
        "print{body{font-size:10pt}main{max-width:none;padding:0}.figures{grid-template-columns:"
        "1fr 1fr;gap:1rem 1.5rem}h2{break-after:avoid;margin-top:1.5rem}"
        ".wide{overflow:visible}.words,.sortable{font-size:6.4pt}td,th{padding:.12rem "
        ".3rem}thead{display:table-header-group;break-inside:avoid}tr{break-inside:avoid}a{color:"
        "inherit;text-decoration:none}}\n";

void cli_report_page_style(FILE *f) {
  fputs("<style>", f);
  fputs(light, f);
  fputs(dark, f);
  fputs(layout, f);
  cli_svg_style(f, false);
  fputs("</style>\n", f);
}

/* A click on the head of a column sorts by it: numbers by value, absent ones last; again: the other way. */
const char cli_report_script[] =
    "document.querySelectorAll('table.sortable').forEach(t=>{const "
    "h=[...t.tHead.rows[0].cells];h.forEach((c,k)=>{\n"
    "c.firstChild.onclick=()=>{const down=c.getAttribute('aria-sort')==='ascending';\n"
    "h.forEach(x=>x.removeAttribute('aria-sort'));c.setAttribute('aria-sort',down?'descending':'"
    "ascending');\n"
    "const left=c.classList.contains('left'),v=r=>{const d=r.cells[k].dataset.v;return "
    "d===undefined?NaN:+d};\n"
    "const "
    "by=(a,b)=>{if(left)return(down?-1:1)*a.cells[k].textContent.localeCompare(b.cells[k]."
    "textContent);\n"
    "const x=v(a),y=v(b);return isNaN(x)?isNaN(y)?0:1:isNaN(y)?-1:down?y-x:x-y};\n"
    "t.tBodies[0].append(...[...t.tBodies[0].rows].sort(by))}})});\n";

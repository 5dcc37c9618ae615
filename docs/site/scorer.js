/* The order of search results: the scores of Sphinx, with the pages of a subject first and laboratory notes last. */
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (page.startsWith("lab/")) return score - 40;
    if (/^(add-|design|opencl|persistent|kernels|testing|c_headers)/.test(page)) return score - 10;
    return score + /^(methods|preconditioners|formats|files|interface|devices|reliability|troubleshooting)$/.test(page);
  },
  objNameMatch: 11, objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7,
  term: 5, partialTerm: 2,
};

"""The version of the package: that of the C header."""
import re
from pathlib import Path

here = Path(__file__).resolve().parent
tree = here / "tree" if (here / "tree").is_dir() else here.parent
version = re.search(r'#define KCL_VERSION "([^"]+)"', (tree / "include" / "krylocl.h").read_text())[1]

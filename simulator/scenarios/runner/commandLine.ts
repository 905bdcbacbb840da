/** A command line as a shell would split it: words between blanks, quotation marks keep blanks together. */

/** Null when a quotation mark is not closed. */
export const splitLine = (line: string): ReadonlyArray<string> | null => {
  if (/["']/.test(line.replaceAll(/"[^"]*"|'[^']*'/g, ""))) return null
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"))
}

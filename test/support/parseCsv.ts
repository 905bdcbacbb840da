/**
 * A strict parser of CSV (RFC 4180): every line ends with CRLF, and fields have quotes exactly where the format
 * requires them.
 */

export const parseCsv = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const lines: Array<Array<string>> = []
  let line: Array<string> = []
  for (let at = 0; at < text.length;) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at)
    line.push(cell)
    if (text[end] === ",") at = end + 1
    else if (text.startsWith("\r\n", end)) {
      lines.push(line)
      line = []
      at = end + 2
      continue
    } else throw new Error(`a cell ends with neither a comma nor CRLF at ${end}`)
    if (at === text.length) throw new Error("the last line has no end")
  }
  if (line.length > 0) throw new Error("the last line has no end")
  const width = lines[0]?.length
  if (lines.some((each) => each.length !== width)) throw new Error("lines have different numbers of cells")
  return lines
}

const plainCell = (text: string, at: number): { readonly cell: string; readonly end: number } => {
  const found = /[",\r\n]/g
  found.lastIndex = at
  const end = found.exec(text)?.index ?? text.length
  if (text[end] === '"') throw new Error(`a quote inside a cell without quotes at ${end}`)
  return { cell: text.slice(at, end), end }
}

const quotedCell = (text: string, at: number): { readonly cell: string; readonly end: number } => {
  let cell = ""
  for (let from = at + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) throw new Error(`a quote is not closed at ${at}`)
    cell += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { cell, end: quote + 1 }
    cell += '"'
    from = quote + 2
  }
}

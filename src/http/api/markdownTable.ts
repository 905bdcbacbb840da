/** A Markdown table with aligned columns, in the formatter's layout; the first row is the head. */
export const markdownTable = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) => `| ${row.map((text, i) => text.padEnd(widths[i] ?? 0)).join(" | ")} |`
  const [head = [], ...body] = rows
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)]
}

/** "Did you mean": the known word nearest to a misspelt one. */

/** `; did you mean "client"?`, or empty when no word is near. */
export const closest = (word: string, known: ReadonlyArray<string>): string => {
  const [best] = known
    .map((each) => ({ each, steps: distance(word, each) }))
    .filter(({ each, steps }) => steps <= Math.max(1, Math.floor(each.length / 3)))
    .toSorted((a, b) => a.steps - b.steps)
  return best === undefined ? "" : `; did you mean "${best.each}"?`
}

/**
 * The number of edits between two words: letters inserted, omitted, exchanged or swapped with their neighbour (optimal string
 * alignment).
 */
const distance = (a: string, b: string): number => {
  const rows: Array<Array<number>> = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (same ? 0 : 1),
          swapped ? at(i - 2, j - 2) + 1 : Infinity
        )
      )
    }
  }
  return at(a.length, b.length)
}

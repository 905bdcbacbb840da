/** A sentence in lines of at most so many columns; a word that is longer stands alone. */
export const wrapWords = (sentence: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of sentence.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/**
 * The consonants of a word, which all its romanisations share. Interchangeable consonants count as one, and so do repeated
 * ones (Mukherjee and Mookerjee, Aleksandr and Alexander, Kadafi and Qaddafi) (F26).
 */
const letter = (text: string): number => text.charCodeAt(0)
const [c, h, k, p, t, x, f, s] = [..."CHKPTXFS"].map(letter) as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number
]

/** For each letter, the letter that is compared in its place; 0: the letter is left out, because it sounds as a vowel. */
const countsAs = Uint8Array.from({ length: 128 }, (_, code) => code)
for (const vowel of "AEIOUYJ") countsAs[letter(vowel)] = 0
for (const [from, to] of ["QK", "CK", "GK", "WV", "ZS"]) countsAs[letter(from as string)] = letter(to as string)

/** The letters after which an H is silent: Gadhafi, Ghulam. */
const breathed = new Set([..."BDG"].map(letter))

/** A hash of the consonants in a part of a text. Equal consonants give equal numbers; others almost never do. */
export const consonantsOf = (text: string, from = 0, to = text.length): number => {
  let sum = 0
  let last = 0
  const take = (code: number): void => {
    if (code === 0 || code === last) return
    sum = (Math.imul(sum, 131) + code) | 0
    last = code
  }
  for (let i = from; i < to; i += 1) {
    const code = text.charCodeAt(i)
    const next = i + 1 < to ? text.charCodeAt(i + 1) : 0
    if (code === k && next === h) continue
    if (code === t && next === c && i + 2 < to && text.charCodeAt(i + 2) === h) continue
    if (code === p && next === h) {
      take(f)
      i += 1
    } else if (code === x) {
      take(k)
      take(s)
    } else if (code !== h || i === from || !breathed.has(text.charCodeAt(i - 1))) take(countsAs[code] ?? code)
  }
  return sum
}

/**
 * Uid prefixes of partners whose operator chose none: the first partner has CL, later ones one made from their code, with
 * digits behind it once that is taken (F31; operator surface, partner create).
 */

/** The prefix of the first partner (F31). */
export const defaultUidPrefix = "CL"

/** Longest prefix. */
const maxLength = 8
/** Free prefixes offered: one is enough unless other partners are created at the same moment. */
const offered = 100

/** A prefix from the code: upper-case letters and digits, at most eight, starting with a letter; null when none is left. */
export const derivedPrefix = (code: string): string | null => {
  const letters = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "")
    .replace(/^[0-9]+/, "")
    .slice(0, maxLength)
  return letters === "" ? null : letters
}

/** CL, the code's own prefix, then that one shortened as needed before 2, 3 and so on: more than there are partners. */
const candidates = function* (code: string): Generator<string> {
  yield defaultUidPrefix
  const derived = derivedPrefix(code)
  if (derived !== null && derived !== defaultUidPrefix) yield derived
  const base = derived ?? defaultUidPrefix
  for (let n = 2; n < 10 ** (maxLength - 1); n++) yield `${base.slice(0, maxLength - String(n).length)}${n}`
}

/** Prefixes for a partner with this code in the order to be tried, without those in use. Never empty. */
export const freePrefixes = (code: string, inUse: ReadonlySet<string>): ReadonlyArray<string> => {
  const free: Array<string> = []
  for (const prefix of candidates(code)) {
    if (inUse.has(prefix)) continue
    if (free.push(prefix) === offered) break
  }
  return free
}

/** What the operator learns of a prefix that it did not choose; none for the default. */
export const prefixNotes = (prefix: string): ReadonlyArray<string> =>
  prefix === defaultUidPrefix
    ? []
    : [`The uid prefix ${defaultUidPrefix} belongs to another partner, so this one has ${prefix}.`]

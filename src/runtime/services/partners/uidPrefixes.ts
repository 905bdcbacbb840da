/**
 * Uid prefixes of partners for which the operator chose none. The first partner gets CL. Each later partner gets a
 * prefix made from its code, followed by digits if that prefix is taken (F31).
 */

/** The prefix of the first partner. */
export const defaultUidPrefix = "CL"

const maxLength = 8
/** The most free prefixes that are returned. One is enough unless other partners are created at the same moment. */
const offered = 100

/**
 * A prefix from the code: at most eight upper-case letters and digits, starting with a letter. Null: the code contains
 * no letter.
 */
export const derivedPrefix = (code: string): string | null => {
  const letters = code
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "")
    .replace(/^[0-9]+/, "")
    .slice(0, maxLength)
  return letters === "" ? null : letters
}

/**
 * The candidates in order: CL, the code's own prefix, then the same prefix followed by 2, 3 and so on and shortened as
 * needed. There are more candidates than partners.
 */
const candidates = function* (code: string): Generator<string> {
  yield defaultUidPrefix
  const derived = derivedPrefix(code)
  if (derived !== null && derived !== defaultUidPrefix) yield derived
  const base = derived ?? defaultUidPrefix
  for (let n = 2; n < 10 ** (maxLength - 1); n++) yield `${base.slice(0, maxLength - String(n).length)}${n}`
}

/** The prefixes that a partner with this code may get, in the order to try, without those in use. Never empty. */
export const freePrefixes = (code: string, inUse: ReadonlySet<string>): ReadonlyArray<string> => {
  const free: Array<string> = []
  for (const prefix of candidates(code)) {
    if (inUse.has(prefix)) continue
    if (free.push(prefix) === offered) break
  }
  return free
}

/** Notes for the operator about a prefix that it did not choose; none for the default. */
export const prefixNotes = (prefix: string): ReadonlyArray<string> =>
  prefix === defaultUidPrefix
    ? []
    : [`The uid prefix ${defaultUidPrefix} belongs to another partner, so this one has ${prefix}.`]

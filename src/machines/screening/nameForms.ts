/** The texts of a name for comparison. The likeness of two names is that of their most similar texts (F26). */
import { consonantsOf } from "./consonants.ts"
import { type NameFields, nameTokens } from "./foldName.ts"
import { jaroWinkler } from "./nameMatch.ts"

/** The two indexed texts of one name: all its words, and only surname with first name. The words are sorted in both. */
export interface NameForms {
  readonly full: string
  readonly short: string
}

/** A client's name; its fields give the role of each word. */
export interface PersonForms extends NameForms {
  /** Words of the first name, of the last name, and of all names with the middle name; without particles, each word once. */
  readonly first: ReadonlyArray<string>
  readonly last: ReadonlyArray<string>
  readonly words: ReadonlyArray<string>
  /** The letters of each element of `words`, as bits (`lettersIn`). */
  readonly masks: ReadonlyArray<number>
  /** The words that identify the person, each with its letters as bits and the hash of its consonants. */
  readonly distinctive: ReadonlyArray<{ readonly word: string; readonly mask: number; readonly consonants: number }>
  /** The set of letters in the whole name, one bit each, and the number of its characters without spaces. */
  readonly mask: number
  readonly letters: number
}

const sorted = (tokens: ReadonlyArray<string>): string => tokens.toSorted().join(" ")
const once = (words: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(words)]

/** The bit of a letter A-Z; other characters share these bits. */
export const bitOf = (code: number): number => 1 << (code & 31)

/** The set of letters that occur in a text, one bit for each letter. */
const lettersIn = (text: string): number => {
  let mask = 0
  for (let i = 0; i < text.length; i += 1) if (text[i] !== " ") mask |= bitOf(text.charCodeAt(i))
  return mask
}

/** Prepares a client's name for comparison: its sorted texts, and its words without particles. */
export const personForms = ({ firstName, middleName, lastName }: NameFields): PersonForms => {
  const fields = [nameTokens(firstName), nameTokens(middleName ?? ""), nameTokens(lastName)] as const
  const [first, middle, last] = [once(weighty(fields[0])), weighty(fields[1]), once(weighty(fields[2]))]
  const [full, words] = [sorted(fields.flat()), once([...first, ...middle, ...last]).toSorted()]
  return {
    full,
    short: sorted([...fields[2], ...fields[0]]),
    first,
    last,
    words,
    masks: words.map(lettersIn),
    distinctive: distinctive(full.split(" ")).map((word) => ({
      word,
      mask: lettersIn(word),
      consonants: consonantsOf(word)
    })),
    mask: lettersIn(full),
    letters: full.replaceAll(" ", "").length
  }
}

/** Particles of surnames. Many persons share them, so they do not identify one. */
const particles = new Set(
  (
    "AF AL AM AUF AUS BIN BINT D DA DAS DE DEL DEM DEN DER DI DO DOS DU E EL IBN IM LA LE MAC MC O TEN TER VAN VOM VON " +
    "Y ZU ZUM ZUR"
  ).split(" ")
)

/** The words without particles; all words when only particles exist. */
export const weighty = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = words.filter((word) => !particles.has(word))
  return left.length > 0 ? left : words
}

/** The words without particles; all words when only one would remain. */
export const distinctive = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = weighty(words)
  return left.length > 1 ? left : words
}

/**
 * Forms of a listed name. "SURNAME, First Middle" shows the role of each word. Without a comma the roles are unknown; the
 * short form is then the whole name, so that the order of its words never matters.
 */
export const listedForms = (name: string): NameForms => {
  const full = sorted(nameTokens(name))
  const comma = name.indexOf(",")
  if (comma < 0) return { full, short: full }
  const surname = nameTokens(name.slice(0, comma))
  const first = nameTokens(name.slice(comma + 1))[0]
  return { full, short: first === undefined || surname.length === 0 ? full : sorted([...surname, first]) }
}

/** The likeness of two names, 0 to 1: the higher of that of their full texts and that of surname with first name. */
export const nameScore = (person: NameForms, listed: NameForms): number => {
  const full = jaroWinkler(person.full, listed.full)
  if (person.short === person.full && listed.short === listed.full) return full
  return Math.max(full, jaroWinkler(person.short, listed.short))
}

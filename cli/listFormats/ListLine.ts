/**
 * One place of a list file as its reader returns it: a person, another entry, or a fault. Texts keep the spelling of the file
 * (operator surface, screening import; F26).
 */

/** A person, with all names, birth dates and countries that the file gives. */
export interface ListEntry {
  readonly names: ReadonlyArray<string>
  readonly dobs: ReadonlyArray<string>
  readonly countries: ReadonlyArray<string>
  readonly list: string
  /** Names of fields that the publisher truncated, such as long remarks. */
  readonly cut?: ReadonlyArray<string>
}

export type ListLine = { readonly place: string } & (
  | { readonly kind: "entry"; readonly entry: ListEntry }
  /** An entry that is not a person, such as a company or a ship. */
  | { readonly kind: "notPerson" }
  /** A line without a readable name. `--bad-lines` limits how many of these lines the import may leave out. */
  | { readonly kind: "bad"; readonly sentence: string }
  /** A fault that rejects the whole file. */
  | { readonly kind: "wrong"; readonly sentence: string }
)

/** Options of the command line that the reader of every list format receives. */
export interface FormatOptions {
  /** The list, such as SANCTIONS, of entries that do not name their list themselves. */
  readonly list?: string
  /** Paths of OFAC's file of alternate names, and of its file with the continuation of long remarks. */
  readonly alternateNames?: string
  readonly comments?: string
}

/** The list of an entry. Published sanctions lists do not name their kind, so SANCTIONS is the default. */
export const sanctionsUnless = ({ list }: FormatOptions): string => list ?? "SANCTIONS"

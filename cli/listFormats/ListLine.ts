/** What a format reads at one place of a list file, in the file's own spelling (F26; operator surface, screening import). */

/** A person with every name, birth date and country that the file gives. */
export interface ListEntry {
  readonly names: ReadonlyArray<string>
  readonly dobs: ReadonlyArray<string>
  readonly countries: ReadonlyArray<string>
  readonly list: string
  /** Fields that the file itself cuts off, such as long remarks. */
  readonly cut?: ReadonlyArray<string>
}

export type ListLine = { readonly place: string } & (
  | { readonly kind: "entry"; readonly entry: ListEntry }
  /** A company, a ship or another entry that is no person. */
  | { readonly kind: "notPerson" }
  /** No name can be read: `--bad-lines` says how many of these are left out. */
  | { readonly kind: "bad"; readonly sentence: string }
  /** The file is refused. */
  | { readonly kind: "wrong"; readonly sentence: string }
)

/** What every format takes from the command line. */
export interface FormatOptions {
  /** The list of entries that do not name one. */
  readonly list?: string
  /** OFAC's file of alternate names, and its file of remarks that are too long. */
  readonly alternateNames?: string
  readonly comments?: string
}

/** What each of the published lists of sanctions is, where the file does not say it. */
export const sanctionsUnless = ({ list }: FormatOptions): string => list ?? "SANCTIONS"

/** The result of reading one place of a list file, in the file's own spelling (operator surface, screening import; F26). */

/** A person with every name, birth date and country that the file gives. */
export interface ListEntry {
  readonly names: ReadonlyArray<string>
  readonly dobs: ReadonlyArray<string>
  readonly countries: ReadonlyArray<string>
  readonly list: string
  /** Fields that the publisher truncated, such as long remarks. */
  readonly cut?: ReadonlyArray<string>
}

export type ListLine = { readonly place: string } & (
  | { readonly kind: "entry"; readonly entry: ListEntry }
  /** An entry that is not a person, such as a company or a ship. */
  | { readonly kind: "notPerson" }
  /** No name can be read here. `--bad-lines` limits how many of these lines the import may leave out. */
  | { readonly kind: "bad"; readonly sentence: string }
  /** The whole file is rejected. */
  | { readonly kind: "wrong"; readonly sentence: string }
)

/** Options of the command line that every format gets. */
export interface FormatOptions {
  /** The list for entries that name none. */
  readonly list?: string
  /** OFAC's file of alternate names, and its file with the rest of long remarks. */
  readonly alternateNames?: string
  readonly comments?: string
}

/** Published lists of sanctions do not name their kind, so SANCTIONS is the default. */
export const sanctionsUnless = ({ list }: FormatOptions): string => list ?? "SANCTIONS"

/**
 * The nouns that the service makes at the venue by a call of their own, besides orders, requests for quotes and contracts: one line
 * each. The wire of calls, outcomes, events and accounts derives from this table, and so do refs and the kinds of money. Tables
 * typed by it do not compile without the noun: checkTable.ts, VenueHandlers.ts, comparedNouns.ts and the simulator's nouns.ts.
 */
import { Schema } from "effect"
import { swapAtVenue } from "./swapAtVenue.ts"
import { Ref } from "./values.ts"

export const venueNouns = {
  swap: swapAtVenue
} as const

/** One noun at the venue. */
interface VenueNoun {
  /** The object as the venue reports it, with its account and the ref of the call that made it. */
  readonly object: Schema.Top
  /** The first letters of its refs. Letters are never reused. */
  readonly letters: string
  /** The name of its list in an account, and of its kind of money. */
  readonly list: string
  /** The name of the write that makes one, in answers of `explain`. */
  readonly write: string
  /**
   * True: each account and outcome has the noun's member, or is malformed. False: a venue may lack the noun, because it was
   * connected before; an absent member then reports none.
   */
  readonly isRequired: boolean
  /** Its calls by name, with their parameters: `ref`, `account`, and those of the noun. */
  readonly calls: Readonly<Record<string, Schema.Top>>
}
type Nouns = typeof venueNouns

export type VenueNounName = keyof Nouns
/** The object of a noun. */
export type NounObject<N extends VenueNounName> = Nouns[N]["object"]["Type"]
/** The name of a noun's list. */
export type NounList<N extends VenueNounName = VenueNounName> = Nouns[N]["list"]
export type NounCallName = { [N in VenueNounName]: keyof Nouns[N]["calls"] }[VenueNounName]

/** A report of a noun's object that has changed. */
export type NounFact = {
  readonly [N in VenueNounName]: { readonly type: N; readonly account: string; readonly sequence: number } & {
    readonly [M in N]: NounObject<N>
  }
}[VenueNounName]

/** Objects by noun; absent or null: the message reports none. */
export type NounObjects = { readonly [N in VenueNounName]?: NounObject<N> | null }

export const nounNames = Object.keys(venueNouns) as ReadonlyArray<VenueNounName>
const entries = Object.entries(venueNouns) as ReadonlyArray<readonly [VenueNounName, VenueNoun]>
const byNoun = <A>(of: (noun: VenueNoun, name: VenueNounName) => readonly [string, A]): Readonly<Record<string, A>> =>
  Object.fromEntries(entries.map(([name, noun]) => of(noun, name)))

/** The noun of each of the letters. */
export const nounLetters = byNoun(({ letters }, name) => [letters, name]) as {
  readonly [N in VenueNounName as Nouns[N]["letters"]]: N
}

/** The requests of all calls. */
export const nounCalls = Object.assign({}, ...entries.map(([, { calls }]) => calls)) as {
  readonly [C in NounCallName]: {
    readonly [N in VenueNounName]: C extends keyof Nouns[N]["calls"] ? Nouns[N]["calls"][C] : never
  }[VenueNounName]
}

const member = ({ isRequired }: VenueNoun, schema: Schema.Top): Schema.Top =>
  isRequired ? schema : Schema.optionalKey(schema)
type Member<N extends VenueNounName, S extends Schema.Top> = Nouns[N]["isRequired"] extends true
  ? S
  : Schema.optionalKey<S>

/** The members of an outcome: the object that the call made. */
export const nounsMade = byNoun((noun, name) => [name, member(noun, Schema.NullOr(noun.object))]) as {
  readonly [N in VenueNounName]: Member<N, Schema.NullOr<Nouns[N]["object"]>>
}

/** The members of an account: its objects that have not ended. */
export const nounsListed = byNoun((noun) => [noun.list, member(noun, Schema.Array(noun.object))]) as {
  readonly [N in VenueNounName as NounList<N>]: Member<N, Schema.$Array<Nouns[N]["object"]>>
}

export type NounWrite = Nouns[VenueNounName]["write"]
export const nounWrites = entries.map(([, { write }]) => write) as ReadonlyArray<NounWrite>

export const nounLists = entries.map(([, { list }]) => list) as ReadonlyArray<NounList>

/** The schemas of facts. */
export const nounFacts = entries.map(([name, { object }]) =>
  Schema.Struct({ type: Schema.Literal(name), account: Ref, sequence: Schema.Int, [name]: object })
) as ReadonlyArray<Schema.Top> as ReadonlyArray<Schema.Codec<NounFact>>

const names: ReadonlySet<string> = new Set(nounNames)
export const isNounFact = (fact: { readonly type: string }): fact is NounFact => names.has(fact.type)
export const isNoun = (name: string): name is VenueNounName => names.has(name)

/** The object of a fact. */
export const objectOfFact = (fact: NounFact): NounObject<VenueNounName> =>
  (fact as Readonly<Record<string, unknown>>)[fact.type] as NounObject<VenueNounName>

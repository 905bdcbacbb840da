/**
 * Namespaces of several services at one venue. Each database has a name there, which prefixes every ref and account. This layer
 * adds the prefix to requests and removes it from responses, and no other part of the service knows it. A database from before
 * names existed has the empty name, and owns every ref and account without a prefix.
 */
import { Effect, Layer, Stream } from "effect"
import { type UnreadableLine, Venue, type VenueShape } from "../../ports/Venue.ts"
import { VenueControl } from "../../ports/VenueControl.ts"

/** The venue under the name of this database. */
export const layerOwnNames = <E, R>(name: string, venue: Layer.Layer<Venue, E, R>): Layer.Layer<Venue, E, R> =>
  Layer.effect(
    Venue,
    Effect.map(Venue, (found) => Venue.of(venueUnder(name, found)))
  ).pipe(Layer.provide(venue))

/** The controls under the same name: a tester names clients like the service does. */
export const layerOwnControls = <E, R>(
  name: string,
  controls: Layer.Layer<VenueControl, E, R>
): Layer.Layer<VenueControl, E, R> =>
  Layer.effect(
    VenueControl,
    Effect.map(VenueControl, (found) => {
      const names = new Names(name)
      return VenueControl.of({
        ...found,
        command: (command) => Effect.map(found.command(names.out(command)), (answer) => names.bare(answer))
      })
    })
  ).pipe(Layer.provide(controls))

/** The port that adds and removes the name. */
export const venueUnder = (name: string, venue: VenueShape): VenueShape => {
  const names = new Names(name)
  return {
    ...venue,
    account: (account) => Effect.map(venue.account(names.named(account)), (found) => names.bare(found)),
    accountEvents: (account, after) =>
      Effect.map(venue.accountEvents(names.named(account), after), (found) =>
        found.map((each) => ("unreadable" in each ? { ...each, account } : names.bare(each)))
      ),
    orderFills: (ref) => Effect.map(venue.orderFills(names.named(ref)), (found) => names.bare(found)),
    lookup: (refs) => Effect.map(venue.lookup(refs.map((ref) => names.named(ref))), (found) => names.bare(found)),
    voidRefs: (refs) => Effect.map(venue.voidRefs(refs.map((ref) => names.named(ref))), (found) => names.bare(found)),
    write: (call, request) => Effect.map(venue.write(call, names.out(request)), (found) => names.bare(found)),
    events: (after) => Stream.map(venue.events(after), (line) => names.line(line))
  }
}

/** Names of the fields that hold a ref or an account, at any depth. */
export const nameFields: ReadonlySet<string> = new Set(["ref", "account", "target", "rfqRef"])

/** The prefix of the refs and accounts of any service. */
const anyName = /^[A-Z2-9]{6}:/

type Line = Stream.Success<ReturnType<VenueShape["events"]>>

class Names {
  private readonly prefix: string

  constructor(name: string) {
    this.prefix = name === "" ? "" : `${name}:`
  }

  named(ref: string): string {
    return `${this.prefix}${ref}`
  }

  /** Adds the name to a value for the venue. */
  out<A>(sent: A): A {
    return renamed(sent, (ref) => this.named(ref))
  }

  /** Removes the name from a value of the venue. A ref of another service keeps its prefix, so that it stays distinguishable. */
  bare<A>(found: A): A {
    return renamed(found, (ref) => (this.owns(ref) ? ref.slice(this.prefix.length) : `other:${ref}`))
  }

  line(line: Line): Line {
    if ("unreadable" in line) return this.unreadable(line)
    if (!("fact" in line)) return line
    const { fact, number } = line
    if (!("account" in fact)) return line
    return this.owns(fact.account) ? this.bare(line) : { foreign: true, number }
  }

  private unreadable(line: UnreadableLine): Line {
    const { account, number } = line
    if (account === null) return line
    return this.owns(account) ? { ...line, account: account.slice(this.prefix.length) } : { foreign: true, number }
  }

  private owns(ref: string): boolean {
    return this.prefix === "" ? !anyName.test(ref) : ref.startsWith(this.prefix)
  }
}

/** A deep copy of plain data in which every ref and account is renamed. */
const renamed = <A>(value: A, rename: (ref: string) => string): A => copied(value, rename) as A

const copied = (value: unknown, rename: (ref: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((each) => copied(each, rename))
  if (typeof value !== "object" || value === null) return value
  // Copies field by field without a list of entries, because every event passes here.
  const copy: Record<string, unknown> = { ...value }
  for (const field in copy) {
    const held = copy[field]
    if (typeof held === "string") {
      if (nameFields.has(field)) copy[field] = rename(held)
    } else copy[field] = copied(held, rename)
  }
  return copy
}

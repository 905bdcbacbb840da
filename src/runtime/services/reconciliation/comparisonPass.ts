/**
 * One comparison pass over an account: the differences between the service's rows and the venue's snapshot. It takes no turn
 * (A2-103).
 */
import { Effect } from "effect"
import type { VenueAccount } from "../../../machines/venue/venueObjects.ts"
import type { Unavailable } from "../../engine/mailbox/ActorHost.ts"
import type { VenueUnanswered } from "../../ports/Venue.ts"
import type { ClientRow } from "../../tables/client.ts"
import { comparedNouns } from "./comparedNouns.ts"
import { contractsOf, type Difference, differencesOf } from "./comparisonDecisions.ts"
import { type MoneyApart, moneyDifferences, moneyOf, standing } from "./moneyComparison.ts"
import type { ComparedSides, NounDifference } from "./NounComparison.ts"
import { type OrderDifference, orderDifferences, ordersOf } from "./orderComparison.ts"

export interface Pass {
  readonly contracts: ReadonlyArray<Difference>
  readonly orders: ReadonlyArray<OrderDifference>
  readonly nouns: ReadonlyArray<ReadonlyArray<NounDifference>>
  readonly money: ReadonlyArray<MoneyApart>
  readonly withoutMoney: boolean
}

/** The alarm keys of differences that both passes found and that no event in flight explains. */
export const claimsOfBoth = (first: Pass, second: Pass): ReadonlyArray<string> => {
  const before = new Set([...first.contracts, ...first.orders, ...first.nouns.flat()].map(({ claim }) => claim))
  return [
    ...[...second.contracts, ...second.orders, ...second.nouns.flat()].filter(({ claim }) => before.has(claim)),
    ...standing(first.money, second.money)
  ].map(({ claim }) => claim)
}

export const countOf = ({ contracts, orders, nouns, money }: Pass): number =>
  contracts.length + orders.length + nouns.flat().length + money.length

/**
 * Compares both sides of an account. `account`: the venue's snapshot; null: the venue has no such account. `areTradesRead`: as
 * in `ordersOf`.
 */
export const passOf = (
  sides: ComparedSides,
  client: ClientRow,
  account: VenueAccount | null,
  areTradesRead: boolean
): Effect.Effect<Pass, Unavailable | VenueUnanswered> =>
  Effect.gen(function* () {
    const contracts = differencesOf(yield* contractsOf(sides, client, account))
    const nouns = yield* Effect.forEach(comparedNouns, ({ find }) => find(sides, client, account))
    const orders = orderDifferences(yield* ordersOf(sides, client, account, areTradesRead))
    const money = moneyDifferences(yield* moneyOf(sides.stored, client, account))
    return { contracts, orders, nouns, money, withoutMoney: account !== null && account.money === null }
  })

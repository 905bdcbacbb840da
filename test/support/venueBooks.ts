/**
 * Compares the service's ledger with the venue's own books at the end of a file: for each client and currency, the
 * balance of the house account `venue` is the negative of the client's trades, receipts and payments in the venue's
 * books (A2-98, C1).
 */
import { afterAll, assert, vi } from "@effect/vitest"
import type { LedgerAccount } from "../../simulator/venue/core/ledger.ts"
import { query, rowsOf } from "./Builders.ts"
import type { Service } from "./Service.ts"

interface Booked {
  readonly uid: string
  readonly currency: string
  /** Minor units, positive for the client. */
  readonly amount: bigint
}

/** A decimal as whole units of the given decimal places; further digits are cut off. */
const unitsOf = (text: string, places: number): bigint => {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".")
  const units = BigInt(whole + fraction.padEnd(places, "0").slice(0, places))
  return text.startsWith("-") ? -units : units
}

const isPerp = ({ symbol }: { readonly symbol: string }): boolean => symbol.endsWith("-PERP")
const baseOf = (symbol: string): string => symbol.slice(0, symbol.indexOf("-"))
const scaleOf = (currency: string): number => ({ EUR: 2, BTC: 8, ETH: 8, BNB: 8, SOL: 9 })[currency] ?? 6

/**
 * Compares one account. Returns false if it has never traded or lent. USDC is compared as receipts less payments, with
 * open perpetuals at their cost. The venue rounds nothing here; the service rounds each closing trade and each spot
 * order against the client (F1, F11, F20).
 */
const compareAccount = async (
  service: Service,
  account: LedgerAccount,
  booked: ReadonlyArray<Booked>
): Promise<boolean> => {
  const [client] = await rowsOf(service, "clients", "uid = $1", [account.account])
  if (client === undefined) return false
  const own = { where: "client_id = $1", values: [BigInt(client.id)] } as const
  const positions = await rowsOf(service, "positions", own.where, own.values)
  const fills = await rowsOf(service, "fills", own.where, own.values)
  const held = (currency: string): bigint =>
    booked.find((row) => row.uid === account.account && row.currency === currency)?.amount ?? 0n
  const ours = held("USDC")
  const theirs =
    account.positions.reduce((sum, { flow }) => sum + unitsOf(flow, 6), 0n) +
    account.balances.reduce((sum, { asset, amount }) => (asset === "USDC" ? sum + unitsOf(amount, 6) : sum), 0n) +
    positions.filter(isPerp).reduce((sum, { netCost }) => sum + unitsOf(netCost, 6), 0n)
  const roundings =
    fills.filter(({ closedQty }) => closedQty !== null).length +
    new Set(fills.filter(({ family }) => family === "SPOT").map(({ orderId }) => orderId)).size +
    positions.length
  const lost = theirs - ours
  assert.isTrue(
    lost >= -BigInt(positions.length) && lost <= BigInt(roundings),
    `${account.account} has ${theirs} in the venue's books, ${ours} are booked after ${roundings} roundings`
  )
  const there = new Map<string, bigint>()
  const add = (asset: string, amount: string): void =>
    void there.set(asset, (there.get(asset) ?? 0n) + unitsOf(amount, scaleOf(asset)))
  for (const each of account.positions) if (!isPerp(each)) add(baseOf(each.symbol), each.netQty)
  // Assets lent to writers and returned (F22).
  for (const { asset, amount } of account.balances) if (asset !== "USDC") add(asset, amount)
  for (const [asset, amount] of there) assert.strictEqual(held(asset), amount, `${asset} of ${account.account}`)
  return account.positions.length + account.balances.length > 0
}

/** Compares all accounts after the file's last test. `ledger`: the venue's own books at that time. */
export const holdVenueBooks = (service: Service, ledger: () => ReadonlyArray<LedgerAccount>): void =>
  afterAll(async () => {
    await vi.waitFor(
      async () => {
        const booked = await query<Booked>(
          service,
          `SELECT c.uid, p.currency, (-sum(p.amount))::bigint AS amount
             FROM postings p JOIN ledger_transactions t USING (tx_id) JOIN clients c ON c.id = t.client_id
            WHERE p.account = 'venue' GROUP BY c.uid, p.currency`
        )
        let compared = 0
        for (const account of ledger()) {
          if (await compareAccount(service, account, booked)) compared++
        }
        assert.isAbove(compared, 0)
      },
      { timeout: 20_000, interval: 200 }
    )
  })

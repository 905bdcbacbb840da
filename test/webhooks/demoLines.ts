/** Requests and commands of the demo's stories as command lines, under headings. They work each time they are pasted. */
import type { Demo } from "../../src/demo.ts"
import type { ServiceFile } from "../../src/runtime/adapters/dataDirectory.ts"

/** The deposit of the close-out, which its position loses. */
const brought = "1000.00"

/** The default data directory. */
const usualDataDir = ".brokerage"

/** The printed request for a contract, which is accepted automatically at a dealer's first quote. */
const contract = '{"symbol":"BTC-USDC-KO","side":"BUY","qty":"0.01","barrier":{"level":"59000"}}'

/**
 * The printed orders buy at the market and offer the same quantity above it, so that repeated pastes need no additional margin.
 */
const bought = '{"symbol":"BTC-USDC-PERP","side":"BUY","type":"MARKET","qty":"0.001"}'
const offered = '{"symbol":"BTC-USDC-PERP","side":"SELL","type":"LIMIT","qty":"0.001","price":"60500"}'

/** The printed take, which lends USDC to the offer with the shortest tenor. */
const lent = '{"qty":"100"}'

/**
 * The printed request for a statement, from a month ago to a time past every possible clock jump. A future end counts as the
 * moment of the request.
 */
const stated = `{"kind":"ACCOUNT","from":'$((($(date +%s)-2592000)*1000))',"to":'$((($(date +%s)+25920000)*1000))'}`

/** The printed order that ends in a close-out: at a price of 40000 its loss exceeds all deposits of the tests before it. */
const carried = '{"symbol":"BTC-USDC-PERP","side":"BUY","type":"MARKET","qty":"0.2"}'

/** The lines. The commands name `dataDir` unless it is the default. */
export const demoLines = (demo: Demo, service: ServiceFile, dataDir: string): string => {
  const command = (line: string) =>
    `  npx --no-install brokerage ${line}${dataDir === usualDataDir ? "" : ` --data-dir '${dataDir}'`}`
  const curl = `curl -sS --cacert '${service.caFile ?? ""}' -H 'Authorization: Bearer ${demo.key}'`
  const client = `${service.url}/partner/v1/clients`
  return [
    "Onboard a client:",
    `  ${curl} -H 'Idempotency-Key: onboard-${demo.tag}' --data @'${demo.clientFile}' ${client}`,
    "",
    `Report collateral for the demo client ${demo.clientId}:`,
    `  ${curl} -H 'Idempotency-Key: deposit-${demo.tag}' --data '{"partnerRef":"deposit-${demo.tag}","direction":"DEPOSIT","amount":"250.00"}' ${client}/${demo.clientId}/collateral`,
    "",
    "Read its ledger:",
    `  ${curl} ${client}/${demo.clientId}/ledger`,
    "",
    "Read a market; move it, and read it again:",
    `  ${curl} '${service.url}/partner/v1/ticker?symbol=BTC-USDC-PERP'`,
    command("sim venue price BTC-USDC-PERP 60000"),
    "",
    "Buy at the market; offer it above, and show position and margin; send the",
    "price there, and read what was traded:",
    command("sim venue price BTC-USDC-PERP 60000"),
    `  ${curl} -H "Idempotency-Key: market-$(date +%s)" --data '${bought}' ${client}/${demo.clientId}/orders`,
    `  ${curl} -H "Idempotency-Key: limit-$(date +%s)" --data '${offered}' ${client}/${demo.clientId}/orders`,
    `  ${curl} ${client}/${demo.clientId}/positions`,
    `  ${curl} ${client}/${demo.clientId}/margin`,
    command("sim venue price BTC-USDC-PERP 60600"),
    `  ${curl} '${client}/${demo.clientId}/trades?limit=2'`,
    "",
    "Hold a price; open a contract, knocked out below 59000; send the price there",
    "(webhooks say what became of it):",
    command("sim venue price BTC-USDC-KO 60000"),
    `  ${curl} -H "Idempotency-Key: contract-$(date +%s)" --data '${contract}' ${client}/${demo.clientId}/rfq`,
    command("sim venue price BTC-USDC-KO 58900"),
    `  ${curl} '${client}/${demo.clientId}/barriers?state=history&limit=1'`,
    "",
    "Bring 100 USDC and lend it to a writer of the staking board for a day; let the",
    "day pass, and read what came back (webhook: swap.settled):",
    `  OFFER=$(${curl} '${service.url}/partner/v1/staking/offers?symbol=USDC-SWAP' | grep -o '"offerId":[0-9]*' | head -1 | cut -d: -f2)`,
    `  ${curl} -H "Idempotency-Key: lent-$(date +%s)" --data '{"partnerRef":"lent-'$(date +%s)'","direction":"DEPOSIT","amount":"100.00"}' ${client}/${demo.clientId}/collateral`,
    `  ${curl} -H "Idempotency-Key: lend-$(date +%s)" --data '${lent}' ${client}/${demo.clientId}/staking/$OFFER/accept`,
    command("sim clock advance 1d"),
    `  ${curl} '${client}/${demo.clientId}/staking/swaps?state=history&limit=1'`,
    `  ${curl} ${client}/${demo.clientId}/balances`,
    "",
    "Make a statement of its account (webhook: statement.ready), and save it as PDF",
    "and CSV:",
    `  STATEMENT=$(${curl} -H "Idempotency-Key: statement-$(date +%s)" --data '${stated}' ${client}/${demo.clientId}/statements | grep -o '"statementId":[0-9]*' | head -1 | cut -d: -f2)`,
    `  ${curl} -o statement.pdf ${client}/${demo.clientId}/statements/$STATEMENT/pdf`,
    `  ${curl} -o statement.csv ${client}/${demo.clientId}/statements/$STATEMENT/csv`,
    "",
    "Bring money and carry a position with it; let the price fall under it, and",
    "read how it was closed out and what was written off (webhooks:",
    "margin.restriction_set, settlement.item_created, margin.restriction_lifted):",
    command("sim venue price BTC-USDC-PERP 60000"),
    `  ${curl} -H "Idempotency-Key: bring-$(date +%s)" --data '{"partnerRef":"bring-'$(date +%s)'","direction":"DEPOSIT","amount":"${brought}"}' ${client}/${demo.clientId}/collateral`,
    `  ${curl} -H "Idempotency-Key: carry-$(date +%s)" --data '${carried}' ${client}/${demo.clientId}/orders`,
    command("sim venue price BTC-USDC-PERP 40000"),
    command(`closeout list --client ${demo.clientId} --limit 1`),
    `  ${curl} '${client}/${demo.clientId}/ledger?limit=3'`,
    "",
    "Play scenarios against this service (sim list shows all of them):",
    command("sim run custody")
  ].join("\n")
}

/**
 * The first screen of `serve --demo`: addresses, partner, client and lines to paste, in at most 22 rows of 80 columns (23 with
 * the row of the webhooks). It holds no secret. Only a long data directory or host makes rows wider.
 */
import { readFileSync } from "node:fs"
import type { Demo } from "./demo.ts"
import { formatAmount } from "./machines/shared/Money.ts"
import { quoted } from "./machines/shared/Text.ts"
import type { ServiceFile } from "./runtime/adapters/dataDirectory.ts"

/** The default data directory. */
const usualDataDir = ".brokerage"
const columns = 80

/** The screen. `offset`: how far business time is ahead of this machine's clock, ms. */
export const demoScreen = (demo: Demo, service: ServiceFile, dataDir: string, offset: number): string => {
  const curl = `curl -K ${quoted(`${dataDir}/demo.curl`)}`
  const clients = `${service.url}/partner/v1/clients`
  const where = dataDir === usualDataDir ? "" : ` --data-dir ${quoted(dataDir)}`
  const keyed = (name: string) => `-H Idempotency-Key:${name}-${demo.tag}`
  // A comment beside a long data directory would make the row wider than the terminal.
  const command = (name: string, purpose: string) =>
    where === "" ? `  brokerage ${name.padEnd(5)}   # ${purpose}` : `  brokerage ${name}${where}`
  const fact = (name: string, text: string) => fitted(`  ${name.padEnd(9)}${text}`)
  return [
    `Partner Brokerage ${version()}, sandbox`,
    `  API      ${service.url}/partner/v1`,
    `  Docs     ${service.url}/docs${service.caFile === null ? "" : "   (the browser warns: own authority)"}`,
    `  Data     ${tailOf(dataDir)}`,
    fact(
      "",
      `with keys: demo.json, demo.curl, operator.key${service.caFile === null ? "" : "; authority: tls/ca.pem"}`
    ),
    fact("Clock", offset === 0 ? "this machine's" : `${durationOf(offset)} ahead of this machine's`),
    fact("Partner", `${demo.code}, holds its clients' money (PARTNER custody)`),
    fact("Client", `${demo.clientId} of ${demo.code}, ${clientText(demo.client)}`),
    `  Stop     Ctrl-C; to start over while it runs: brokerage sim reset${where}`,
    "",
    "In another terminal, in this folder (a line pasted twice acts once):",
    "  alias brokerage='npx --no-install brokerage'",
    `  ${curl} -d @${quoted(`${dataDir}/demo-client.json`)} \\`,
    `    ${keyed("new")} ${clients}`,
    `  ${curl} ${keyed("money")} \\`,
    `    -d '{"partnerRef":"${demo.tag}","direction":"DEPOSIT","amount":"250"}' \\`,
    `    ${clients}/${demo.clientId}/collateral`,
    `  ${curl} \\`,
    `    ${clients}/${demo.clientId}/ledger`,
    command("tour", "orders filled, knock-outs, staking: requests and answers"),
    command("watch", "what waits for a decision, live"),
    command("atlas", "every state machine with its objects, in the browser")
  ].join("\n")
}

const version = (): string =>
  (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string })
    .version

const clientText = (client: Demo["client"]): string => {
  if (client === null) return "which does not exist any more"
  const { name, state, level, cash } = client
  const may =
    state !== "ACTIVE" ? `is ${state}` : level === "MICA_MIFID" ? "may trade everything" : `is at level ${level}`
  return `${shortened(name)}, ${grouped(formatAmount(cash, "USDC"))} USDC, ${may}`
}

/** Formats an amount with commas, and with two decimal places unless further places are not zero. */
const grouped = (amount: string): string => {
  const [whole = "", fraction = ""] = amount.split(".")
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fraction.replace(/0{1,4}$/, "")}`
}

const durationOf = (millis: number): string => {
  const minutes = Math.floor(millis / 60_000)
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24]
  const parts = [
    days === 0 ? null : `${days} d`,
    hours === 0 ? null : `${hours} h`,
    minutes % 60 === 0 ? null : `${minutes % 60} min`
  ].filter((part) => part !== null)
  return parts.length === 0 ? "less than a minute" : parts.join(" ")
}

const shortened = (name: string): string => (name.length <= 24 ? name : `${name.slice(0, 23)}…`)
const fitted = (row: string): string => (row.length <= columns ? row : `${row.slice(0, columns - 1)}…`)
/** The end of a long path: it distinguishes two paths better than their common beginning. */
const tailOf = (path: string): string => (path.length <= 69 ? path : `…${path.slice(-68)}`)

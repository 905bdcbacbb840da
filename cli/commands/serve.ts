/**
 * `brokerage serve`: parses the options of the service. A settings file gives defaults under the same names; command line
 * options take precedence (operator surface, Service).
 */
import { type Command, Option } from "commander"
import { isIP } from "node:net"
import { type FourEyes, writingCommands } from "../../src/http/api/operator/commandTable.ts"
import { type LeverageProfile, leverageProfiles } from "../../src/machines/market/marketTerms.ts"
import { isCountry } from "../../src/machines/shared/Country.ts"
import type { Cli } from "../Cli.ts"
import { cliFailure, exitStatus, type Firm, type Globals, type ServeRequest } from "../CliIo.ts"
import { defaultDataDir } from "../connection.ts"
import { whole } from "../options.ts"
import { readText } from "../textFile.ts"

interface ServeFlags {
  readonly role?: ServeRequest["role"]
  readonly routerUrl?: ReadonlyArray<string>
  readonly routerCa?: string
  readonly passOperator?: boolean
  readonly host?: string
  readonly port?: number
  readonly databaseUrl?: string
  readonly venueUrl?: string
  readonly venueKeyFile?: string
  readonly venueCa?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly sandbox?: boolean
  readonly demo?: boolean
  readonly edgeHost?: ReadonlyArray<string>
  readonly allowWebhookHost?: ReadonlyArray<string>
  readonly config?: string
  readonly fourEyes?: ReadonlyArray<string>
  readonly leverageProfile?: LeverageProfile
  readonly killAt?: string
  readonly untilStdinEnds?: boolean
  /** Set by the settings file only. */
  readonly blockedJurisdictions?: ReadonlyArray<string>
  readonly identityProviders?: ReadonlyArray<string>
  readonly firm?: Firm
}

export const addServeCommand = (program: Command, cli: Cli): void => {
  program
    .command("serve")
    .description("run the service in the foreground")
    .addOption(
      new Option(
        "--role <role>",
        "the whole service, its part behind an edge, or the edge alone (default all)"
      ).choices(roles)
    )
    .option("--router-url <url...>", "of an edge: addresses of routers, https; the first reachable one is used")
    .option("--router-ca <file>", "of an edge: their authority, PEM (default: the local one in the data directory)")
    .option("--pass-operator", "of an edge: pass the operator surface on too (default: its paths answer 404)")
    .option("--host <address>", "address to listen on (default 127.0.0.1)")
    .addOption(new Option("--port <n>", "port, 0 for any free one (default 8443)").argParser(whole(0, 65_535)))
    .option("--database-url <url>", "a PostgreSQL of your own (default: an embedded one in the data directory)")
    .option(
      "--venue-url <url>",
      "address of the venue, https, or http on this machine (default: in a sandbox a simulated one, else none)"
    )
    .option("--venue-key-file <file>", "file with the venue's key")
    .option("--venue-ca <file>", "authority of the venue's certificate, PEM (default: the public ones)")
    .option("--tls-cert <file>", "certificate, PEM (default: a local authority in the data directory)")
    .option("--tls-key <file>", "key of the certificate, PEM")
    .option("--sandbox", "the development environment: sandbox partners and time travel")
    .option(
      "--demo",
      "sandbox only: a partner with a client; prints lines to paste, and on a terminal the partner's webhooks"
    )
    .option("--edge-host <CIDR...>", "edge hosts whose X-Forwarded-For is believed")
    .option(
      "--allow-webhook-host <HOST...>",
      "sandbox only: webhook hosts that need not be public; the local authority is trusted for them"
    )
    .option("--config <file>", "settings file, JSON")
    .option(
      "--four-eyes <class...>",
      `commands that need a second operator key, or none: ${fourEyesClasses.join(", ")}; without it, outside a sandbox: all but ${onRequest.join(" and ")}`
    )
    .addOption(
      new Option(
        "--leverage-profile <name>",
        "highest leverage on perpetuals of retail clients: default (10 on crypto) or esma (2 on crypto, 10 on energy)"
      ).choices(profiles)
    )
    .addOption(new Option("--kill-at <point>", "crash test: die at POINT[:N]").hideHelp())
    .addOption(new Option("--until-stdin-ends", "stop when stdin ends, as when the parent process dies").hideHelp())
    .action((flags: ServeFlags, command: Command) =>
      cli.attempt(command, async (globals) => {
        cli.status = await cli.io.serve(serveRequest(flags, globals))
      })
    )
}

/** The parsed request, or a CliFailure that names the fault. */
export const serveRequest = (flags: ServeFlags, globals: Globals): ServeRequest => {
  const all: ServeFlags = { ...(flags.config === undefined ? {} : readConfig(flags.config)), ...flags }
  const { tlsCert, tlsKey } = all
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw usage("--tls-cert and --tls-key go together.")
  const sandbox = all.sandbox ?? false
  if (all.demo === true && !sandbox) throw usage("--demo needs --sandbox.")
  return {
    ...roleOf(all),
    host: all.host ?? "127.0.0.1",
    port: all.port ?? 8443,
    dataDir: globals.dataDir ?? defaultDataDir,
    databaseUrl: all.databaseUrl ?? null,
    ...venueOf(all),
    tls: tlsCert === undefined || tlsKey === undefined ? null : { certFile: tlsCert, keyFile: tlsKey },
    sandbox,
    demo: all.demo ?? false,
    json: globals.json ?? false,
    edgeHosts: all.edgeHost ?? [],
    allowWebhookHosts: webhookHosts(all.allowWebhookHost ?? [], sandbox),
    fourEyes: all.fourEyes === undefined ? null : classesOf(all.fourEyes),
    leverageProfile: all.leverageProfile ?? "default",
    blockedJurisdictions: all.blockedJurisdictions ?? null,
    identityProviders: all.identityProviders ?? null,
    firm: all.firm ?? null,
    killAt: all.killAt === undefined ? null : killPoint(all.killAt),
    untilStdinEnds: all.untilStdinEnds ?? false
  }
}

const usage = (sentence: string) => cliFailure(exitStatus.usage, 4000, sentence)

const profiles = Object.keys(leverageProfiles)

const roles: ReadonlyArray<ServeRequest["role"]> = ["all", "router", "edge"]

/** Parses the role and its options. An edge has no database, so options that need one are refused. */
const roleOf = (all: ServeFlags): Pick<ServeRequest, "role" | "routerUrls" | "routerCa" | "passOperator"> => {
  const { role = "all", routerUrl: routerUrls = [], routerCa = null, passOperator = false } = all
  if (role !== "edge") {
    if (routerUrls.length > 0 || routerCa !== null || passOperator) {
      throw usage("--router-url, --router-ca and --pass-operator need --role edge.")
    }
  } else {
    if (routerUrls.length === 0) throw usage("--role edge needs --router-url.")
    if (!routerUrls.every(isRouterUrl)) throw usage("--router-url takes https addresses, without path.")
    const given = ofRouters.filter((name) => all[name] !== undefined && all[name] !== false)
    if (given.length > 0) throw usage("--role edge takes neither a database, a venue nor settings of the service.")
  }
  return { role, routerUrls, routerCa, passOperator }
}

const ofRouters = [
  "databaseUrl",
  "venueUrl",
  "venueKeyFile",
  "venueCa",
  "sandbox",
  "demo",
  "allowWebhookHost",
  "fourEyes",
  "killAt",
  "leverageProfile",
  "blockedJurisdictions",
  "identityProviders",
  "firm"
] as const satisfies ReadonlyArray<keyof ServeFlags>

const isRouterUrl = (text: string): boolean => /^https:\/\/[^/?#@\s]+\/?$/.test(text) && URL.canParse(text)

const venueOf = (all: ServeFlags): Pick<ServeRequest, "venueUrl" | "venueKeyFile" | "venueCa"> => {
  const { venueUrl = null, venueKeyFile = null, venueCa = null } = all
  if (venueUrl === null) {
    if (venueKeyFile !== null || venueCa !== null) throw usage("--venue-key-file and --venue-ca need --venue-url.")
    return { venueUrl, venueKeyFile, venueCa }
  }
  const address = /^(https?):\/\/([^/?#@\s]+)\/?$/.exec(venueUrl)
  if (address === null || !URL.canParse(venueUrl)) {
    throw usage("--venue-url takes an address, https://HOST or https://HOST:PORT, without path and credentials.")
  }
  if (address[1] === "http") {
    if (!isLoopback(new URL(venueUrl).hostname)) {
      throw usage("--venue-url takes http for this machine alone (127.0.0.1, ::1, localhost): use https.")
    }
    if (venueCa !== null) throw usage("--venue-ca is for a --venue-url with https.")
  }
  return { venueUrl, venueKeyFile, venueCa }
}

const isLoopback = (hostname: string): boolean => /^(localhost|\[::1\]|127(\.[0-9]{1,3}){3})$/.test(hostname)

/** Checks that each entry is only a host name or address: a port or path would never match the host of a URL. */
const webhookHosts = (given: ReadonlyArray<string>, sandbox: boolean): ReadonlyArray<string> => {
  if (given.length > 0 && !sandbox) throw usage("--allow-webhook-host needs --sandbox.")
  if (!given.every((host) => isIP(host) !== 0 || /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(host))) {
    throw usage("--allow-webhook-host takes host names and addresses, without port and path.")
  }
  return given
}

const classesWith = (fourEyes: FourEyes): ReadonlyArray<string> =>
  Object.entries(writingCommands).flatMap(([command, its]) => (its === fourEyes ? [command] : []))
const onRequest = classesWith("on request")
const fourEyesClasses = [...classesWith("usual"), ...onRequest]

/** Parses the four-eyes classes: `none`, or names such as `ledger adjust` or `ledger-adjust`. */
const classesOf = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (given.length === 1 && given[0] === "none") return []
  const classes = given.map((name) => name.replaceAll("-", " "))
  if (!classes.every((name) => fourEyesClasses.includes(name))) {
    throw usage(`--four-eyes takes none or: ${fourEyesClasses.join(", ")}.`)
  }
  return classes
}

const killPoint = (given: string) => {
  const [point = "", times = "1"] = given.split(":")
  if (!/^[1-9][0-9]{0,8}$/.test(times)) throw usage("--kill-at takes POINT or POINT:N.")
  return { point, times: Number(times) }
}

const settings: { readonly [K in keyof ServeFlags]?: (value: unknown) => boolean } = {
  role: (value) => roles.includes(value as ServeRequest["role"]),
  routerUrl: (value) => isTexts(value),
  routerCa: (value) => typeof value === "string",
  passOperator: (value) => typeof value === "boolean",
  host: (value) => typeof value === "string",
  port: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535,
  databaseUrl: (value) => typeof value === "string",
  venueUrl: (value) => typeof value === "string",
  venueKeyFile: (value) => typeof value === "string",
  venueCa: (value) => typeof value === "string",
  tlsCert: (value) => typeof value === "string",
  tlsKey: (value) => typeof value === "string",
  sandbox: (value) => typeof value === "boolean",
  demo: (value) => typeof value === "boolean",
  edgeHost: (value) => isTexts(value),
  allowWebhookHost: (value) => isTexts(value),
  fourEyes: (value) => isTexts(value),
  leverageProfile: (value) => profiles.includes(value as string),
  blockedJurisdictions: (value) => isTexts(value) && value.every(isCountry),
  identityProviders: (value) =>
    isTexts(value) && value.length === 2 && value.every((token) => /^[a-z0-9_]{1,40}$/.test(token)),
  firm: (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([name, text]) => firmNames.includes(name) && isName(text))
}

const firmNames: ReadonlyArray<string> = ["name", "legalEntity", "venue"] satisfies ReadonlyArray<keyof Firm>

/** Whether a value can be a name on statements: one line of limited length, without leading or trailing space. */
const isName = (value: unknown): boolean =>
  typeof value === "string" && /^\S(.{0,98}\S)?$/u.test(value) && !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every((item) => typeof item === "string")

const readConfig = (file: string): ServeFlags => {
  let parsed: unknown
  try {
    parsed = JSON.parse(readText(file))
  } catch {
    throw usage("The file of --config can not be read as JSON.")
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw usage("The file of --config must hold one JSON object.")
  }
  for (const [name, value] of Object.entries(parsed)) {
    const fits = Object.hasOwn(settings, name) ? settings[name as keyof ServeFlags] : undefined
    if (fits === undefined) throw usage(`Unknown setting in --config. Known are: ${Object.keys(settings).join(", ")}.`)
    if (!fits(value)) throw usage(`The setting ${name} of --config has the wrong form.`)
  }
  return parsed
}

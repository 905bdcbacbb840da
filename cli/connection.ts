/**
 * Where the service is and who calls: options first, then the environment, then what the running service of the data
 * directory wrote into service.json (operator surface, rules for every command).
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { cliFailure, type CliIo, exitStatus, type Globals } from "./CliIo.ts"

export interface Connection {
  readonly url: string
  readonly operatorKey: string
  /** PEM text of the certificate authority to trust; null: the system's. */
  readonly ca: string | null
  /** Every call is a dry run. */
  readonly dryRun?: boolean
}

interface ServiceFile {
  readonly url?: unknown
  readonly caFile?: unknown
  readonly operatorKeyFile?: unknown
}

export const defaultDataDir = ".brokerage"

/** Throws a CliFailure that says what is missing. */
export const findConnection = (globals: Globals, io: CliIo): Connection => {
  const dataDir = globals.dataDir ?? defaultDataDir
  const service = readService(join(dataDir, "service.json"))
  const url = globals.url ?? filled(io.env.BROKERAGE_URL) ?? text(service.url)
  if (url === null || url === undefined) {
    throw cliFailure(
      exitStatus.unreachable,
      5030,
      `No service is running in ${dataDir}. Start one with brokerage serve, or name it with --url.`
    )
  }
  if (!URL.canParse(url)) throw cliFailure(exitStatus.usage, 4000, "The address of --url is not a URL.")
  // The key travels with every call: nobody on the way may read it.
  if (new URL(url).protocol !== "https:") {
    throw cliFailure(exitStatus.usage, 4000, "The address of the service must begin with https://.")
  }
  return {
    url: url.replace(/\/+$/, ""),
    operatorKey: keyOf(globals, io, service),
    ca: caOf(globals, io, service),
    ...(globals.dryRun === true ? { dryRun: true } : {})
  }
}

const keyOf = (globals: Globals, io: CliIo, service: ServiceFile): string => {
  const given = globals.operatorKey ?? filled(io.env.BROKERAGE_OPERATOR_KEY)
  if (given !== undefined) return given
  const file = text(service.operatorKeyFile)
  if (file !== null && existsSync(file)) return readFileSync(file, "utf8").trim()
  throw cliFailure(exitStatus.usage, 4000, "An operator key is needed: use --operator-key or BROKERAGE_OPERATOR_KEY.")
}

const caOf = (globals: Globals, io: CliIo, service: ServiceFile): string | null => {
  const given = globals.ca ?? filled(io.env.BROKERAGE_CA)
  if (given !== undefined) {
    try {
      return readFileSync(given, "utf8")
    } catch {
      throw cliFailure(exitStatus.usage, 4000, "The file of --ca can not be read.")
    }
  }
  const file = text(service.caFile)
  return file !== null && existsSync(file) ? readFileSync(file, "utf8") : null
}

/** A missing or broken file is no service; a stale one is found out by calling it. */
const readService = (path: string): ServiceFile => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ServiceFile
  } catch {
    return {}
  }
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null)
const filled = (value: string | undefined): string | undefined => (value === "" ? undefined : value)

/**
 * Finds the address of the service and the caller's key: options first, then a profile; without a profile, the environment,
 * then the service.json of the running service in the data directory (operator surface, rules for every command).
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { cliFailure, type CliIo, exitStatus, type Globals } from "./CliIo.ts"
import { type Profile, readProfile } from "./profile.ts"
import { keyText, readText } from "./textFile.ts"

export interface Connection {
  readonly url: string
  readonly operatorKey: string
  /** The option, variable or file that the key comes from, as the subject of the message on a refused key. */
  readonly keySource?: string
  /** PEM text of the authority to trust; null for those of the system. */
  readonly ca: string | null
  /** True when every call is a dry run. */
  readonly dryRun?: boolean
}

interface ServiceFile {
  readonly url?: unknown
  readonly caFile?: unknown
  readonly operatorKeyFile?: unknown
}

/** Values that stand in for absent options. */
interface Defaults {
  readonly url: string | null
  readonly operatorKey: string | null
  readonly operatorKeyFile: string | null
  readonly caFile: string | null
}

export const defaultDataDir = ".brokerage"

/** The connection of a command. Throws a CliFailure that names the missing part. */
export const findConnection = (globals: Globals, io: CliIo): Connection => {
  const dataDir = globals.dataDir ?? defaultDataDir
  const profile = globals.profile ?? filled(io.env.BROKERAGE_PROFILE)
  const defaults =
    profile === undefined ? surroundings(io, join(dataDir, "service.json")) : ofProfile(readProfile(profile, io.env))
  const url = globals.url?.trim() ?? defaults.url
  if (url === null) {
    throw cliFailure(
      exitStatus.unreachable,
      5030,
      `No service is running in ${dataDir}. Start one with npm start or brokerage serve, or name it with --url.`
    )
  }
  if (!URL.canParse(url)) throw usage("The address of --url is not a URL.")
  // Every call carries the key, so plain HTTP is refused.
  if (new URL(url).protocol !== "https:") throw usage("The address of the service must begin with https://.")
  return {
    url: url.replace(/\/+$/, ""),
    ...keyOf(globals, defaults),
    ca: caOf(globals.ca, defaults.caFile),
    ...(globals.dryRun === true ? { dryRun: true } : {})
  }
}

/** The defaults of a profile. A profile supplies all values itself, so the key of one service is never sent to another. */
const ofProfile = ({ url, operatorKeyFile, ca }: Profile): Defaults => ({
  url,
  operatorKey: null,
  operatorKeyFile,
  caFile: ca
})

const surroundings = ({ env }: CliIo, path: string): Defaults => {
  const service = readService(path)
  const [operatorKey, keyFile] = [filled(env.BROKERAGE_OPERATOR_KEY), filled(env.BROKERAGE_OPERATOR_KEY_FILE)]
  return {
    url: filled(env.BROKERAGE_URL) ?? text(service.url),
    operatorKey: operatorKey ?? null,
    operatorKeyFile: keyFile ?? existing(text(service.operatorKeyFile)),
    caFile: filled(env.BROKERAGE_CA) ?? existing(text(service.caFile))
  }
}

const usage = (sentence: string) => cliFailure(exitStatus.usage, 4000, sentence)

type Key = Pick<Connection, "operatorKey" | "keySource">

const keyOf = ({ operatorKey, operatorKeyFile }: Globals, defaults: Defaults): Key => {
  if (operatorKey !== undefined && operatorKeyFile !== undefined)
    throw usage("--operator-key and --operator-key-file name two keys: give one of them.")
  if (operatorKey === "") return { operatorKey }
  if (operatorKey !== undefined) return keyFrom(operatorKey, "The key of --operator-key")
  if (operatorKeyFile !== undefined) return keyIn(operatorKeyFile)
  if (defaults.operatorKey !== null) return keyFrom(defaults.operatorKey, "BROKERAGE_OPERATOR_KEY")
  if (defaults.operatorKeyFile !== null) return keyIn(defaults.operatorKeyFile)
  throw usage("An operator key is needed: use --operator-key-file, --operator-key or BROKERAGE_OPERATOR_KEY.")
}

/** The key in a file of exactly one line. Any other file was named by mistake, and is not sent. */
const keyIn = (file: string): Key => {
  let content: string
  try {
    content = readText(file)
  } catch {
    throw usage(`The operator key file ${file} can not be read.`)
  }
  return keyFrom(content, `The operator key file ${file}`)
}

/** The key of a simulated partner. Throws a CliFailure for an unusable key. */
export const partnerKey = (option: string): string => oneKey(option, "The key of --key")

const keyFrom = (content: string, keySource: string): Key => ({ operatorKey: oneKey(content, keySource), keySource })

const oneKey = (content: string, where: string): string => {
  const key = keyText(content)
  if (key === null) throw usage(`${where} must hold one key and nothing else.`)
  return key
}

const caOf = (option: string | undefined, file: string | null): string | null => {
  const named = option ?? file
  if (named === null) return null
  try {
    return readText(named)
  } catch {
    throw usage(`The file of --ca can not be read.`)
  }
}

/** Reads service.json. A missing or broken file counts as no service; a stale file fails at the call. */
const readService = (path: string): ServiceFile => {
  try {
    return (JSON.parse(readText(path)) as ServiceFile | null) ?? {}
  } catch {
    return {}
  }
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null)
const existing = (file: string | null): string | null => (file !== null && existsSync(file) ? file : null)
/** The trimmed value, or undefined when empty: a variable that was read from a file often ends with a line break. */
const filled = (value: string | undefined): string | undefined => value?.trim() || undefined

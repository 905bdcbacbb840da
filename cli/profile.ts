/**
 * Profiles: the services that an operator uses, each in a JSON file of the configuration folder. The key is in a separate
 * file, never in the profile (operator surface, rules for every command).
 */
import { readdirSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { cliFailure, type CliIo, exitStatus } from "./CliIo.ts"
import { readText } from "./textFile.ts"

export interface Profile {
  readonly url: string
  /** Paths; relative ones start at the profile's folder. */
  readonly ca: string | null
  readonly operatorKeyFile: string | null
}

/** The folder `brokerage/profiles` in XDG_CONFIG_HOME or ~/.config; on Windows in APPDATA. */
export const profileFolder = (env: CliIo["env"]): string => {
  const { XDG_CONFIG_HOME, APPDATA, HOME } = env
  const base = [XDG_CONFIG_HOME, process.platform === "win32" ? APPDATA : undefined].find((each) => each)
  return join(base ?? join(HOME ?? homedir(), ".config"), "brokerage", "profiles")
}

/** Names of the existing profiles; empty when the folder does not exist. */
export const profileNames = (env: CliIo["env"]): ReadonlyArray<string> => {
  try {
    const files = readdirSync(profileFolder(env))
    return files.flatMap((file) => (/^[\w-]+\.json$/.test(file) ? [file.slice(0, -".json".length)] : [])).toSorted()
  } catch {
    return []
  }
}

const members = ["url", "ca", "operatorKeyFile"] as const satisfies ReadonlyArray<keyof Profile>

/** The profile. Throws a CliFailure that names a fault. */
export const readProfile = (name: string, env: CliIo["env"]): Profile => {
  if (!/^[\w-]{1,64}$/.test(name)) throw usage("--profile takes a name of letters, digits, - and _.")
  const file = join(profileFolder(env), `${name}.json`)
  const parsed = parse(file, name, env)
  const unknown = Object.keys(parsed).find((member) => !(members as ReadonlyArray<string>).includes(member))
  if (unknown !== undefined) throw usage(`${file}: unknown member ${unknown}. Known are: ${members.join(", ")}.`)
  const [url, ca, operatorKeyFile] = members.map((member) => parsed[member] ?? null)
  if (typeof url !== "string" || url.trim() === "")
    throw usage(`${file}: url is missing, such as https://brokerage.example:8443.`)
  for (const [member, value] of [["ca", ca] as const, ["operatorKeyFile", operatorKeyFile] as const]) {
    if (value !== null && typeof value !== "string") throw usage(`${file}: ${member} must be a path.`)
  }
  const path = (value: unknown) => (typeof value === "string" ? resolve(dirname(file), value.trim()) : null)
  return { url: url.trim(), ca: path(ca), operatorKeyFile: path(operatorKeyFile) }
}

const parse = (file: string, name: string, env: CliIo["env"]): Readonly<Record<string, unknown>> => {
  let content: string
  try {
    content = readText(file)
  } catch (error) {
    if (error instanceof TypeError) throw usage(`${file} is not UTF-8 or UTF-16 text.`)
    const known = profileNames(env)
    const others = known.length === 0 ? "There are none yet." : `There are: ${known.join(", ")}.`
    throw usage(`There is no profile ${name}: ${file} can not be read. ${others}`)
  }
  const parsed = jsonOf(content)
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw usage(`${file} must hold one JSON object with ${members.join(", ")}.`)
  return parsed as Readonly<Record<string, unknown>>
}

const jsonOf = (content: string): unknown => {
  try {
    return JSON.parse(content)
  } catch {
    return null
  }
}

const usage = (sentence: string) => cliFailure(exitStatus.usage, 4000, sentence)

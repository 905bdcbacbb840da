/**
 * The launcher bin/brokerage.mjs, run as a process from a copy of the checkout's layout with a tiny cli/main.ts. A
 * preloaded line that changes process.versions imitates an old Node, so no second Node is needed.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const checkout = join(import.meta.dirname, "../..")
const folders: Array<string> = []
const children: Array<ChildProcess> = []

const stub = `
  const [kind, value] = process.argv.slice(2)
  const report: Record<string, unknown> = { args: process.argv.slice(2), node: process.versions.node, pid: process.pid }
  process.stdout.write(JSON.stringify(report) + "\\n")
  if (kind === "exit") process.exitCode = Number(value)
  if (kind === "die") process.kill(process.pid, "SIGKILL")
  if (kind === "wait") {
    const timer = setInterval(() => undefined, 1000)
    process.once(value!, () => {
      process.stdout.write("drained " + value + "\\n")
      clearInterval(timer)
    })
    process.stdout.write("waiting\\n")
  }
`

/** A copy of the layout: the launcher, the stub and (by link) the real packages. */
const layout = (options: { readonly packages: boolean; readonly node?: boolean }) => {
  const root = Fs.mkdtempSync(join(tmpdir(), "brokerage-bin-"))
  folders.push(root)
  for (const name of ["bin", "cli"]) Fs.mkdirSync(join(root, name))
  for (const name of Fs.readdirSync(join(checkout, "bin")))
    Fs.copyFileSync(join(checkout, "bin", name), join(root, "bin", name))
  Fs.writeFileSync(join(root, "package.json"), JSON.stringify({ type: "module", version: "7.8.9" }))
  Fs.writeFileSync(join(root, "cli/main.ts"), stub)
  if (options.packages) {
    Fs.mkdirSync(join(root, "node_modules/.bin"), { recursive: true })
    // The test run's own Node replaces the bundled one.
    if (options.node !== false) Fs.symlinkSync(process.execPath, join(root, "node_modules/.bin/node"))
  }
  return root
}

const oldNode = [
  "--import",
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`
]

const run = (root: string, args: ReadonlyArray<string>, nodeFlags: ReadonlyArray<string> = []) => {
  const child = spawn(process.execPath, [...nodeFlags, join(root, "bin/brokerage.mjs"), ...args], {
    cwd: tmpdir(),
    // The cache of the test run would replace the launcher's own.
    env: { ...process.env, NODE_COMPILE_CACHE: undefined }
  })
  children.push(child)
  const out = { text: "", errors: "" }
  const waiting: Array<() => void> = []
  child.stdout.on("data", (chunk: Buffer) => {
    out.text += chunk.toString("utf8")
    for (const check of waiting) check()
  })
  child.stderr.on("data", (chunk: Buffer) => void (out.errors += chunk.toString("utf8")))
  const ended = new Promise<{ code: number | null; text: string; errors: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, ...out }))
  )
  const printed = (text: string) =>
    new Promise<void>((resolve) => {
      const check = () => out.text.includes(text) && resolve()
      waiting.push(check)
      check()
    })
  return { child, ended, printed, out }
}

const report = (text: string) =>
  JSON.parse(text.split("\n")[0] ?? "") as { readonly args: Array<string>; readonly node: string; readonly pid: number }

afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  for (const folder of folders) Fs.rmSync(folder, { recursive: true, force: true })
})

describe("launcher", () => {
  it("serve: --version prints the package version, also without packages", async () => {
    for (const flag of ["--version", "-V"]) {
      const { code, text } = await run(layout({ packages: false }), [flag], oldNode).ended
      assert.deepStrictEqual([code, text], [0, "7.8.9\n"])
    }
  })

  it("serve: without packages one sentence states what to do", async () => {
    const { code, errors } = await run(layout({ packages: false }), ["serve"]).ended
    assert.strictEqual(code, 1)
    assert.match(errors, /^The packages of the brokerage are not installed\. Run npm ci in \S+ first\.\n$/)
  })

  it("serve: an old Node and no bundled one: the sentence names the version needed", async () => {
    const { code, errors } = await run(layout({ packages: true, node: false }), ["serve"], oldNode).ended
    assert.strictEqual(code, 1)
    assert.match(errors, /^This is Node\.js 20\.20\.2; 22\.19 or newer is needed/)
  })

  describe.each([
    ["a new Node, in the same process", [], true],
    ["an old Node, under the bundled one", oldNode, false]
  ] as const)("%s", (_, flags, sameProcess) => {
    it("serve: passes arguments and the exit status, keeps a compile cache", async () => {
      const root = layout({ packages: true })
      const { child, ended } = run(root, ["exit", "3", "--name", "a b", ""], flags)
      const { code, text, errors } = await ended
      assert.deepStrictEqual([code, errors], [3, ""])
      assert.deepStrictEqual(report(text).args, ["exit", "3", "--name", "a b", ""])
      assert.strictEqual(report(text).node, process.versions.node)
      assert.strictEqual(report(text).pid === child.pid, sameProcess)
      assert.isTrue(Fs.existsSync(join(root, "node_modules/.cache/node-compile")))
    })

    it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("serve: %s reaches the service, which drains", async (signal) => {
      const { child, ended, printed } = run(layout({ packages: true }), ["wait", signal], flags)
      await printed("waiting")
      child.kill(signal)
      const { code, text } = await ended
      assert.strictEqual(code, 0)
      assert.include(text, `drained ${signal}`)
    })
  })

  it("a compile cache that can't be made is left out, at once", async () => {
    const file = join(layout({ packages: false }), "package.json")
    for (const folder of ["/proc/x", "/proc/x/y", join(file, "x")]) {
      const set = `data:text/javascript,process.env.NODE_COMPILE_CACHE=${JSON.stringify(folder)}`
      const { code, text } = await run(layout({ packages: true }), ["exit", "4"], [...oldNode, "--import", set]).ended
      assert.deepStrictEqual([code, report(text).args], [4, ["exit", "4"]], folder)
    }
  })

  it.skipIf(!Fs.existsSync("/dev/full"))(
    "an answer that can't be written is one sentence; a closed pipe is no failure",
    () => {
      const full = Fs.openSync("/dev/full", "w")
      const bin = join(layout({ packages: false }), "bin/brokerage.mjs")
      const { status, stderr } = spawnSync(process.execPath, [bin, "--version"], {
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8"
      })
      Fs.closeSync(full)
      assert.deepStrictEqual([status, stderr], [3, "The answer could not be written (ENOSPC).\n"])
      const piped = spawnSync("sh", ["-c", `"${process.execPath}" "${bin}" --version | true`], { encoding: "utf8" })
      assert.deepStrictEqual([piped.status, piped.stderr], [0, ""])
    }
  )

  it("serve: a service killed by a signal gives 128 + its number", async () => {
    assert.strictEqual((await run(layout({ packages: true }), ["die"], oldNode).ended).code, 137)
  })

  it("serve: works through a link from another folder, as npx and npm link call it", async () => {
    const root = layout({ packages: true })
    const elsewhere = layout({ packages: false })
    Fs.rmSync(join(elsewhere, "bin/brokerage.mjs"))
    Fs.symlinkSync(join(root, "bin/brokerage.mjs"), join(elsewhere, "bin/brokerage.mjs"))
    const { code, text } = await run(elsewhere, ["exit", "0"]).ended
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(report(text).args, ["exit", "0"])
  })
})

describe("resolveImports", () => {
  it("gives every module of the machines the address and the kind that Node gives it", () => {
    const record = `
      import module from "node:module"
      const loaded = []
      module.registerHooks({ load: (url, context, next) => {
        const result = next(url, context)
        loaded.push([url, result.format])
        return result
      } })
      await import(${JSON.stringify(join(checkout, "src/machines/registry.ts"))})
      console.log(JSON.stringify(loaded.sort()))`
    const modulesWith = (flags: ReadonlyArray<string>) => {
      const child = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", record], { encoding: "utf8" })
      return JSON.parse(child.stdout) as ReadonlyArray<readonly [url: string, format: string]>
    }
    const usual = modulesWith([])
    assert.isAbove(usual.length, 300)
    assert.deepStrictEqual(modulesWith(["--import", join(checkout, "bin/resolveImports.mjs")]), usual)
  })

  it("leaves the error of an import without a file to Node", () => {
    const flags = ["--import", join(checkout, "bin/resolveImports.mjs"), "--input-type=module", "-e"]
    const { stderr } = spawnSync(process.execPath, [...flags, 'await import("effect/none")'], {
      cwd: checkout,
      encoding: "utf8"
    })
    assert.include(stderr, "ERR_MODULE_NOT_FOUND")
  })
})

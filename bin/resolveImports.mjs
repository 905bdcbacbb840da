// resolveImports: resolves relative imports of files by their name alone. Node's own resolution reads folders and package files for
// each of the 1,700 modules of the service, which is a third of its start. Plain JavaScript, as it is loaded before TypeScript is.
// Everything else, and every fault, is left to Node.
import module from "node:module"

const ownFiles = new URL("..", import.meta.url).href
const packages = `${ownFiles}node_modules/`
/** Packages whose files are ES modules, all of them. */
const esPackages = ["effect/", "@effect/"].map((name) => packages + name)
/** The folders whose files all see the same packages. `linters` has packages of its own. */
const ownFolders = ["bench/", "bin/", "cli/", "scripts/", "simulator/", "src/", "test/"].map((name) => ownFiles + name)
/** Packages by the name in an import of an own file. */
const resolved = new Map()

const isOwn = (url) => ownFolders.some((folder) => url.startsWith(folder))

const formatOf = (name, parent) => {
  if (name.endsWith(".ts")) return isOwn(parent) ? "module-typescript" : undefined
  return name.endsWith(".js") && esPackages.some((each) => parent.startsWith(each)) ? "module" : undefined
}

/** The address of `./name` or `../name`, as `new URL` gives it in ten times the time. */
const besides = (name, parent) => {
  let folder = parent.lastIndexOf("/")
  let from = name.startsWith("./") ? 2 : 0
  for (; name.startsWith("../", from); from += 3) folder = parent.lastIndexOf("/", folder - 1)
  return parent.slice(0, folder + 1) + name.slice(from)
}

module.registerHooks?.({
  resolve(name, context, next) {
    const { parentURL: parent, conditions } = context
    if (parent === undefined || !conditions.includes("import")) return next(name, context)
    if (name.startsWith(".")) {
      const format = formatOf(name, parent)
      return format === undefined ? next(name, context) : { url: besides(name, parent), format, shortCircuit: true }
    }
    if (!isOwn(parent)) return next(name, context)
    const known = resolved.get(name) ?? { ...next(name, context), shortCircuit: true }
    resolved.set(name, known)
    return known
  }
})

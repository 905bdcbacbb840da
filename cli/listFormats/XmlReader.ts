/**
 * Reads published XML in pieces. Entries are returned as complete elements; all other elements are checked by name. So memory
 * grows with the longest entry, not with the file. A document type is rejected, so only the five entities of XML exist.
 */
import sax from "sax"

export interface XmlElement {
  /** The element's name without its namespace prefix. */
  readonly name: string
  /** Line of the start tag, from 1. */
  readonly line: number
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<XmlElement>
  /** The text directly in this element, not in its children; trimmed. */
  readonly text: string
}

/** The structure of a published list: its root, its entries, and the members that screening knows. */
export interface XmlFormat {
  readonly root: string
  /** Paths of the entries, starting below the root, such as `INDIVIDUALS/INDIVIDUAL`. */
  readonly entries: ReadonlyArray<string>
  /** Known members by element name; attributes begin with @. Screening ignores the content of an element without a row here. */
  readonly members: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The text is not XML of this format, so the rest of the text can't be read either. */
export class XmlError extends Error {
  readonly line: number

  constructor(line: number, sentence: string) {
    super(sentence)
    this.line = line
  }
}

/** A complete entry of the file. `format` defines how the caller reads its members. */
export interface XmlEntry<F extends XmlFormat> {
  readonly format: F
  readonly element: XmlElement
}

/** The longest entry in characters, and the deepest nesting of elements. A file beyond either is rejected. */
const longestEntry = 1_048_576
const deepest = 32

/** Allows the five entities of XML, and no entity of HTML. */
const strictly = { strictEntities: true, position: true }

interface Open {
  readonly name: string
  readonly line: number
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Array<XmlElement>
  text: string
}

export class XmlReader<F extends XmlFormat> {
  readonly #parser = sax.parser(true, strictly)
  #format: F | null = null
  /** The names of the open elements from the root on, which give the path of the present element. */
  readonly #path: Array<string> = []
  /** The open elements of the current entry, outermost first; empty between entries. */
  readonly #open: Array<Open> = []
  #length = 0
  #found: Array<XmlEntry<F>> = []

  constructor(formats: ReadonlyArray<F>) {
    const handlers: Partial<sax.SAXParser> = {
      // Only the first line of the error is its message. The others give a position, which `#fail` adds in its own form.
      onerror: (error) => this.#fail(`The XML can't be read: ${error.message.split("\n")[0]}.`),
      ondoctype: () => this.#fail("A document type is not taken."),
      onopentag: ({ name, attributes }) =>
        this.#begin(name.split(":").at(-1)!, attributes as Readonly<Record<string, string>>, formats),
      ontext: (text) => this.#text(text),
      oncdata: (text) => this.#text(text),
      onclosetag: () => this.#end()
    }
    Object.assign(this.#parser, handlers)
  }

  /** Returns the entries that end in this piece of text. */
  read(text: string): ReadonlyArray<XmlEntry<F>> {
    this.#parser.write(text)
    return this.#taken()
  }

  end(): ReadonlyArray<XmlEntry<F>> {
    this.#parser.close()
    if (this.#format === null) this.#fail("The XML has no element.")
    return this.#taken()
  }

  #taken(): ReadonlyArray<XmlEntry<F>> {
    const found = this.#found
    this.#found = []
    return found
  }

  #begin(name: string, attributes: Readonly<Record<string, string>>, formats: ReadonlyArray<F>): void {
    this.#path.push(name)
    if (this.#path.length > deepest) this.#fail(`Elements may be nested ${deepest} deep at most.`)
    if (this.#format === null) {
      this.#format = formats.find(({ root }) => root === name) ?? null
      if (this.#format === null) {
        const roots = formats.map(({ root }) => root).join(" or ")
        this.#fail(`The root element ${name} is not known: it must be ${roots}.`)
      }
      return
    }
    const around = this.#open.at(-1)
    const path = this.#path.slice(1).join("/")
    const { entries, members } = this.#format
    if (around === undefined && !entries.includes(path)) {
      if (!entries.some((entry) => entry.startsWith(`${path}/`))) this.#unknown(name)
      return
    }
    if (around !== undefined && members[around.name]?.includes(name) === false)
      this.#unknown(`${name} of ${around.name}`)
    for (const [attribute, value] of Object.entries(attributes)) {
      if (members[name]?.includes(`@${attribute}`) === false) this.#unknown(`${attribute} of ${name}`)
      this.#measure(value)
    }
    this.#open.push({ name, line: this.#parser.line + 1, attributes, children: [], text: "" })
  }

  #text(text: string): void {
    const open = this.#open.at(-1)
    if (open === undefined) {
      if (text.trim() !== "") this.#fail("There must be no text between the entries.")
      return
    }
    this.#measure(text)
    open.text += text
  }

  #end(): void {
    this.#path.pop()
    const ended = this.#open.pop()
    if (ended === undefined || this.#format === null) return
    const element = { ...ended, text: ended.text.trim() }
    const around = this.#open.at(-1)
    if (around !== undefined) around.children.push(element)
    else {
      this.#length = 0
      this.#found.push({ format: this.#format, element })
    }
  }

  #measure(text: string): void {
    this.#length += text.length
    if (this.#length > longestEntry) this.#fail(`An entry may have at most ${longestEntry} characters.`)
  }

  #unknown(member: string): never {
    return this.#fail(`The member ${member.slice(0, 200)} is not known.`)
  }

  #fail(sentence: string): never {
    throw new XmlError(this.#parser.line + 1, sentence)
  }
}

/** The child elements with this name, in document order. */
export const childrenOf = ({ children }: XmlElement, name: string): ReadonlyArray<XmlElement> =>
  children.filter((child) => child.name === name)

/** The text of the first child with this name; empty without one. */
export const textOf = (element: XmlElement, name: string): string => childrenOf(element, name)[0]?.text ?? ""

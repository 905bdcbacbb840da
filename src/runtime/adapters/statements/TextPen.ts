/**
 * Writes one-line texts into a page, character by character. The layout of pdfkit processes every word again: a statement of
 * 100,000 rows would take ten times as long, and every word would stay in memory. A character without a glyph, an invisible
 * character and a direction character are drawn as U+FFFD. Renderers from 3 on put right-to-left text in reading order (STS-31).
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type PDFDocument from "pdfkit"

import { drawnOrder, isTurned } from "./drawnOrder.ts"

type Document = InstanceType<typeof PDFDocument>

export type Face = "body" | "bold"

const require = createRequire(import.meta.url)
const file = (name: string): Buffer => readFileSync(require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`))
const files: { readonly [F in Face]: Buffer } = {
  body: file("DejaVuSansCondensed"),
  bold: file("DejaVuSansCondensed-Bold")
}

/** The members of pdfkit's font that its types lack. */
interface EmbeddedFont {
  readonly id: string
  readonly ascender: number
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean }
  ref(): unknown
  encode(text: string): readonly [ReadonlyArray<string>, ReadonlyArray<{ readonly advanceWidth: number }>]
}

/** An encoded character: its code in the font's subset, and its width in thousandths of the size. */
interface Sign {
  readonly code: string
  readonly width: number
}

const undrawable = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u
const replacement = "\uFFFD"
const ellipsis = "…"

/** A coordinate in the file's form: hundredths of a point. */
const place = (figure: number): string => String(Math.round(figure * 100) / 100)

/** An encoded text: its codes, and its width in thousandths of the size, without a trailing space. */
interface Line {
  readonly codes: string
  readonly width: number
}

export class TextPen {
  private readonly document: Document
  private readonly height: number
  private readonly putsInOrder: boolean
  private readonly fonts: { readonly [F in Face]: EmbeddedFont }
  private readonly signs: { readonly [F in Face]: Map<string, Sign> } = { body: new Map(), bold: new Map() }
  /** The ASCII characters by their code: nearly all texts need only these. */
  private readonly usual: { readonly [F in Face]: Array<Sign | undefined> } = { body: [], bold: [] }
  /** The text operators collected for one object, with the font and stretch of the last one; null outside `asOne`. */
  private together: { text: string; font: string; stretch: number } | null = null

  /** `putsInOrder`: right-to-left text is drawn in reading order. Otherwise its characters are drawn in stored order. */
  constructor(document: Document, height: number, putsInOrder: boolean) {
    this.document = document
    this.height = height
    this.putsInOrder = putsInOrder
    const font = (face: Face): EmbeddedFont => {
      document.registerFont(face, files[face]).font(face)
      // pdfkit keeps the current font private, and its codes are available only there.
      const { _font: own }: { readonly _font: EmbeddedFont } = document as never
      return own
    }
    this.fonts = { bold: font("bold"), body: font("body") }
  }

  /** Writes a text of one line that begins at `y` from the top. */
  write(text: string, face: Face, size: number, x: number, y: number): void {
    if (text !== "") this.draw(this.laid(text, face), face, size, x, y, 100)
  }

  /** Writes a text that must not be cut: a text wider than its room is narrowed, at the same height. */
  writeWithin(text: string, face: Face, size: number, x: number, y: number, room: number): void {
    this.within(text, face, size, room, y, () => x)
  }

  /** Like `writeWithin`, but the text ends at `right`. */
  writeUpTo(text: string, face: Face, size: number, right: number, y: number, room: number): void {
    this.within(text, face, size, room, y, (width) => right - Math.min(width, room))
  }

  /** Writes the texts of `draw` as one object of the page. `draw` may draw only texts. */
  asOne(draw: () => void): void {
    const together = { text: "", font: "", stretch: 100 }
    this.together = together
    draw()
    this.together = null
    if (together.text !== "") this.document.addContent(`q 1 0 0 -1 0 ${place(this.height)} cm BT${together.text} ET Q`)
  }

  /** Draws a rule from `left` to `right`. */
  line(left: number, right: number, y: number, width: number): void {
    const grey = width < 0.5 ? 0.75 : 0.4
    this.document.addContent(`q ${grey} G ${width} w ${place(left)} ${place(y)} m ${place(right)} ${place(y)} l S Q`)
  }

  /** Draws a light background. */
  shade(x: number, y: number, width: number, height: number): void {
    this.document.addContent(`q 0.93 g ${place(x)} ${place(y)} ${place(width)} ${place(height)} re f Q`)
  }

  /** The width of a text in points. */
  widthOf(text: string, face: Face, size: number): number {
    return (this.laid(text, face).width * size) / 1000
  }

  /** The part of a text that fits, up to a word's end if possible. */
  split(text: string, face: Face, size: number, room: number): string {
    let width = 0
    let kept = ""
    let word = 0
    for (const character of text) {
      width += (this.signOf(character, face).width * size) / 1000
      if (width > room) return kept.slice(0, word === 0 ? kept.length : word)
      if (character === " ") word = kept.length
      kept += character
    }
    return kept
  }

  /** The text, or the part of it that fits, with an ellipsis. */
  fitted(text: string, face: Face, size: number, room: number): string {
    if (this.widthOf(text, face, size) <= room) return text
    let cut = (this.signOf(ellipsis, face).width * size) / 1000
    let kept = ""
    for (const character of text) {
      const next = cut + (this.signOf(character, face).width * size) / 1000
      if (next > room) break
      kept += character
      cut = next
    }
    return `${kept}${ellipsis}`
  }

  private within(
    text: string,
    face: Face,
    size: number,
    room: number,
    y: number,
    left: (width: number) => number
  ): void {
    if (text === "") return
    const line = this.laid(text, face)
    const width = (line.width * size) / 1000
    const stretch = width <= room ? 100 : Math.floor((room / width) * 10_000) / 100
    this.draw(line, face, size, left(width), y, stretch)
  }

  private draw({ codes }: Line, face: Face, size: number, x: number, y: number, stretch: number): void {
    const font = this.fonts[face]
    const page: { readonly fonts: Record<string, unknown> } = this.document.page as never
    page.fonts[font.id] ??= font.ref()
    const base = this.height - y - (font.ascender * size) / 1000
    const named = `/${font.id} ${size} Tf`
    const at = this.together ?? { text: "", font: "", stretch: 100 }
    if (at.stretch !== stretch) at.text += ` ${place(stretch)} Tz`
    if (at.font !== named) at.text += ` ${named}`
    at.text += ` 1 0 0 1 ${place(x)} ${place(base)} Tm <${codes}> Tj`
    at.stretch = stretch
    at.font = named
    // pdfkit turns the y axis to start at the top of the page. This matrix turns it back, because glyphs would be upside down.
    if (this.together === null) this.document.addContent(`q 1 0 0 -1 0 ${place(this.height)} cm BT${at.text} ET Q`)
  }

  private laid(text: string, face: Face): Line {
    let codes = ""
    let width = 0
    for (const character of this.ordered(text, face)) {
      const sign = this.signOf(character, face)
      codes += sign.code
      width += sign.width
    }
    return { codes, width: text.endsWith(" ") ? width - this.signOf(" ", face).width : width }
  }

  private ordered(text: string, face: Face): string {
    if (!this.putsInOrder || !isTurned(text)) return text
    const seen = Array.from(text, (character) => (this.isDrawable(character, face) ? character : replacement))
    return drawnOrder(seen.join(""))
  }

  private signOf(character: string, face: Face): Sign {
    const code = character.charCodeAt(0)
    if (code >= 128) return this.signs[face].get(character) ?? this.newSign(character, face)
    return (this.usual[face][code] ??= this.newSign(character, face))
  }

  private newSign(character: string, face: Face): Sign {
    const shown = this.isDrawable(character, face) ? character : replacement
    const [codes, positions] = this.fonts[face].encode(shown)
    const sign = { code: codes.join(""), width: positions.reduce((sum, { advanceWidth }) => sum + advanceWidth, 0) }
    this.signs[face].set(character, sign)
    return sign
  }

  private isDrawable(character: string, face: Face): boolean {
    const { font } = this.fonts[face]
    return !undrawable.test(character) && font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
  }
}

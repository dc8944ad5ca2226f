/** Extracts the text of each page of a PDF that Chromium printed. Other PDFs have forms that this does not read. */
import { inflateSync } from 'node:zlib'

type Objects = ReadonlyMap<string, string>

/** Returns the objects by number; streams are inflated. Bytes are Latin-1 characters. */
function objectsOf(pdf: Uint8Array): Objects {
  const text = Buffer.from(pdf).toString('latin1')
  const objects = new Map<string, string>()
  for (const [, id = '', body = ''] of text.matchAll(/\n(\d+) 0 obj\r?\n?(.*?)\r?\nendobj/gs)) {
    const [, head = '', stream] = /^(.*?)stream\r?\n(.*)\r?\nendstream/s.exec(body) ?? []
    const isDeflated = stream !== undefined && head.includes('/FlateDecode') && !head.includes('/Image')
    objects.set(id, isDeflated ? inflateSync(Buffer.from(stream, 'latin1')).toString('latin1') : body)
  }
  return objects
}

const characterOf = (hex: string): string =>
  (hex.match(/.{4}/g) ?? []).map((unit) => String.fromCharCode(Number.parseInt(unit, 16))).join('')

/** Returns the characters of a font's glyphs. */
function glyphsOf(cmap: string): ReadonlyMap<string, string> {
  const glyphs = new Map<string, string>()
  for (const [, block = ''] of cmap.matchAll(/beginbfchar(.*?)endbfchar/gs))
    for (const [, glyph = '', character = ''] of block.matchAll(/<(\w+)>\s*<(\w+)>/g))
      glyphs.set(glyph.toUpperCase(), characterOf(character))
  for (const [, block = ''] of cmap.matchAll(/beginbfrange(.*?)endbfrange/gs))
    for (const [, from = '', to = '', first = ''] of block.matchAll(/<(\w+)>\s*<(\w+)>\s*<(\w+)>/g))
      for (let at = Number.parseInt(from, 16); at <= Number.parseInt(to, 16); at++) {
        const character = String.fromCharCode(Number.parseInt(first, 16) + at - Number.parseInt(from, 16))
        glyphs.set(at.toString(16).padStart(4, '0').toUpperCase(), character)
      }
  return glyphs
}

/** Returns the text of each page without spaces, because Chromium places words instead of writing spaces. */
export function pdfPages(pdf: Uint8Array): string[] {
  const objects = objectsOf(pdf)
  const glyphs = new Map<string, ReadonlyMap<string, string>>()
  const glyphsOfFont = (id: string) =>
    glyphs.getOrInsertComputed(id, () => glyphsOf(objects.get(/\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '')?.[1] ?? '') ?? ''))
  return [...objects.values()]
    .filter((body) => /\/Type \/Page\b(?!s)/.test(body))
    .map((page) => {
      const fonts = new Map([...page.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', id = '']) => [name, id]))
      const content = objects.get(/\/Contents (\d+) 0 R/.exec(page)?.[1] ?? '') ?? ''
      let font = ''
      let text = ''
      for (const [, name, hex] of content.matchAll(/\/(F\d+) [\d.]+ Tf|<([\dA-Fa-f]+)>/g)) {
        if (name !== undefined) font = fonts.get(name) ?? ''
        else for (const glyph of hex?.toUpperCase().match(/.{4}/g) ?? []) text += glyphsOfFont(font).get(glyph) ?? ''
      }
      return text.replace(/\s/g, '')
    })
}

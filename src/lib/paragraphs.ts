const blockNames =
  'address|article|aside|blockquote|caption|center|col|colgroup|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|iframe|legend|li|main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul'
const blockTag = new RegExp(`(</?(?:${blockNames})(?:\\s[^<>]*)?/?>)`, 'i')
/** Elements whose text is one paragraph. */
const textBlock = /^<(\/?)(address|caption|center|dd|dt|figcaption|h[1-6]|legend|li|p|summary|td|th)\b/i
const preTag = /^<(\/?)pre\b/i
/** Short tags only, because each paragraph repeats those that are open. */
const formatTag = /<(\/?)(b|em|i|s|small|strong|u)>/gi
const openTagsMax = 4

/**
 * Converts text to paragraphs like WordPress's `wpautop`: a blank line ends a paragraph, a single line end is a line
 * break. Tags and the text of block elements stay.
 */
export function withParagraphs(text: string): string {
  const html: string[] = []
  const format = new OpenTags()
  let textBlocks = 0
  let isPre = false
  for (const [at, part] of withoutComments(text.replace(/\r\n?/g, '\n')).split(blockTag).entries()) {
    if (at % 2 === 1) {
      const [, closesText] = textBlock.exec(part) ?? []
      if (closesText !== undefined) textBlocks = Math.max(0, textBlocks + (closesText === '' ? 1 : -1))
      const [, closesPre] = preTag.exec(part) ?? []
      if (closesPre !== undefined) isPre = closesPre === ''
      html.push(part)
    } else if (isPre) html.push(part)
    else if (textBlocks > 0) {
      format.read(part)
      html.push(withBreaks(part.trim()))
    } else
      for (const paragraph of part.split(/\n[ \t]*\n/))
        if (paragraph.trim() !== '') html.push(`<p>${format.wrapParagraph(withBreaks(paragraph.trim()))}</p>`)
  }
  return joinParagraphs(html)
}

/** Repeats tags that a paragraph leaves open in the next one, as browsers do. */
class OpenTags {
  private readonly names: string[] = []

  wrapParagraph(paragraph: string): string {
    const opened = this.names.map((name) => `<${name}>`).join('')
    this.read(paragraph)
    const closed = this.names.toReversed().map((name) => `</${name}>`)
    return opened + paragraph + closed.join('')
  }

  read(text: string): void {
    for (const [, slash, word = ''] of text.matchAll(formatTag)) {
      const name = word.toLowerCase()
      const at = this.names.lastIndexOf(name)
      if (slash === '' && this.names.length < openTagsMax) this.names.push(name)
      if (slash === '/' && at >= 0) this.names.splice(at, 1)
    }
  }
}

/** A line end after an existing break adds none. */
const withBreaks = (text: string): string => text.replace(/<br ?\/?>[ \t]*\n/gi, '<br>').replaceAll('\n', '<br>')

/** Puts consecutive paragraphs on separate lines. */
const joinParagraphs = (html: readonly string[]): string =>
  html.map((part, at) => (part.startsWith('<p>') && html[at - 1]?.endsWith('</p>') ? `\n${part}` : part)).join('')

/** Removes comments, in which the block editor stores its marks. */
function withoutComments(text: string): string {
  let output = ''
  let at = 0
  for (;;) {
    const start = text.indexOf('<!--', at)
    const end = start < 0 ? -1 : text.indexOf('-->', start)
    if (end < 0) return output + text.slice(at)
    output += text.slice(at, start)
    at = end + 3
  }
}

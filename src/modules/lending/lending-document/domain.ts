import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import type { LendingDocument } from '../application/domain.ts'

/** Whose and what a document is. */
export type DocumentName = Pick<LendingDocument, 'id' | 'applicationId' | 'key'>

/** What a file is bound to, and the secret that it is sealed under. */
export const fileSeal = ({ id, applicationId, key }: DocumentName): string => `lending-document/${applicationId}/${key}/${id}/file`
export const secretSeal = ({ id, applicationId, key }: DocumentName): string => `lending-document/${applicationId}/${key}/${id}/secret`

/** The names of files that a media type has; the first is given to one that has none of them. */
const endings: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'application/pdf': ['pdf'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/png': ['png'],
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': ['xlsx'],
  'text/csv': ['csv'],
}
/** Every media type that some document may have. */
export const documentTypes = Object.keys(endings)

/** Of a page; more than any checklist has keys, so that one has them all. */
export const documentsLimit = 100

/** What of a document is on record: not what its owner calls it. */
export const documentDifference = (before: LendingDocument | undefined, after: LendingDocument | undefined): Difference =>
  differenceOf(before && told(before), after && told(after), ['key', 'mimeType', 'size', 'store'])

/** Which file it is, and what it is sealed under, is nobody's business. */
const told = ({
  applicationId: _,
  storageName: __,
  hash: ___,
  sealedKey: ____,
  uploadedAt: _____,
  uploadedBy: ______,
  ...document
}: LendingDocument) => document

/** A document as its owner sees it. */
export const documentView = (document: LendingDocument) => ({
  ...pick(document, 'id', 'applicationId', 'key', 'mimeType', 'size', 'originalName'),
  ...isoTimes(pick(document, 'uploadedAt')),
})
export type DocumentView = ReturnType<typeof documentView>

const nameLengthMax = 150

/**
 * What a sender calls a file (`Content-Disposition`, RFC 6266), as a name and nothing else: no path, no control or invisible characters.
 * @returns null where there is none, or none that can be read
 */
export function fileNameOf(header: string | null): string | null {
  if (header === null) return null
  const [, extended] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header) ?? []
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(header) ?? []
  return cleaned(decoded(extended) ?? asUtf8(quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''))
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Headers are bytes: many senders write UTF-8. */
function asUtf8(text: string): string {
  const read = Buffer.from(text, 'latin1').toString('utf8')
  return read.includes('\ufffd') || [...text].some((sign) => sign > '\u00ff') ? text : read
}

function cleaned(text: string): string | null {
  const name = text
    .normalize('NFC')
    .split(/[/\\]/)
    .at(-1)
    ?.replace(/[\p{C}\p{Zl}\p{Zp}"<>|:*?]/gu, '')
    .trim()
    .replace(/^\.+/, '')
  if (!name) return null
  const [, stem = '', ending = ''] = /^(.*?)(\.[^.]{1,10})?$/su.exec(name) ?? []
  return `${[...stem].slice(0, nameLengthMax - ending.length).join('')}${ending}`.trim() || null
}

/** `Content-Disposition` of a document that is sent: always saved and never shown, under a name that ends as its type does. */
export function attachmentOf({ originalName, key, mimeType }: Pick<LendingDocument, 'originalName' | 'key' | 'mimeType'>): string {
  const [ending, ...others] = endings[mimeType] ?? ['bin']
  const name = originalName ?? key
  const has = [ending, ...others].some((one) => name.toLowerCase().endsWith(`.${one}`))
  const whole = has ? name : `${name}.${ending}`
  const plain = whole.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const encoded = encodeURIComponent(whole).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

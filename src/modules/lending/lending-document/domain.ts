import { isoTimes, pick } from '../../../lib/objects.ts'
import { type Difference, differenceOf } from '../../operations/audit/domain.ts'
import type { LendingDocument } from '../application/domain.ts'

type DocumentName = Pick<LendingDocument, 'id' | 'applicationId' | 'key'>

/** Returns the context that the file is sealed with: it opens for this document only. */
export const fileSeal = ({ id, applicationId, key }: DocumentName): string => `lending-document/${applicationId}/${key}/${id}/file`
/** Returns the context that the file's secret is sealed with, for `keyring.seal`. */
export const secretSeal = ({ id, applicationId, key }: DocumentName): string => `lending-document/${applicationId}/${key}/${id}/secret`

/** The file extensions of each media type. The first is the default. */
const extensions: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'application/pdf': ['pdf'],
  'image/jpeg': ['jpg', 'jpeg'],
  'image/png': ['png'],
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': ['xlsx'],
  'text/csv': ['csv'],
}
export const documentTypes = Object.keys(extensions)

/** More than the keys of any checklist, so that one page holds all documents. */
export const documentsLimit = 100

/** Returns the difference for the audit trail. It leaves out the file name that the owner chose. */
export const documentDifference = (before: LendingDocument | undefined, after: LendingDocument | undefined): Difference =>
  differenceOf(before && auditedFields(before), after && auditedFields(after), ['key', 'mimeType', 'size', 'store'])

/** Leaves out where the file is stored and how it is sealed. */
const auditedFields = ({
  applicationId: _,
  storageName: __,
  hash: ___,
  sealedKey: ____,
  uploadedAt: _____,
  uploadedBy: ______,
  ...document
}: LendingDocument) => document

/** Renders a document as its owner sees it. */
export const documentView = (document: LendingDocument) => ({
  ...pick(document, 'id', 'applicationId', 'key', 'mimeType', 'size', 'originalName'),
  ...isoTimes(pick(document, 'uploadedAt')),
})
export type DocumentView = ReturnType<typeof documentView>

const nameLengthMax = 150

/**
 * Reads the file name of `Content-Disposition` (RFC 6266) without a path and without control or invisible characters.
 * @returns null if there is no readable name
 */
export function fileNameOf(header: string | null): string | null {
  if (header === null) return null
  const [, extended] = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header) ?? []
  const [, quoted, bare] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(header) ?? []
  return cleanFileName(decodePercent(extended) ?? decodeUtf8(quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''))
}

function decodePercent(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Header values are bytes, and many clients send UTF-8. */
function decodeUtf8(text: string): string {
  const read = Buffer.from(text, 'latin1').toString('utf8')
  return read.includes('\ufffd') || [...text].some((sign) => sign > '\u00ff') ? text : read
}

function cleanFileName(text: string): string | null {
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

/** Builds the `Content-Disposition` of a download: always an attachment, with the extension of its media type. */
export function attachmentOf({ originalName, key, mimeType }: Pick<LendingDocument, 'originalName' | 'key' | 'mimeType'>): string {
  const [ending, ...alternatives] = extensions[mimeType] ?? ['bin']
  const name = originalName ?? key
  const has = [ending, ...alternatives].some((extension) => name.toLowerCase().endsWith(`.${extension}`))
  const fileName = has ? name : `${name}.${ending}`
  const plain = fileName.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** Loan applications that accept documents, and a file of each kind. */
import { deflateRawSync } from 'node:zlib'
import { lendingApplications } from '../../db/schema/lending.ts'
import type { LendingApplication } from '../../src/modules/lending/application/domain.ts'
import type { TestApp } from './app.ts'
import { approveBusiness } from './kyb.ts'

export const lendingOn = { LENDING_PLATFORM_ENABLED: 'true' }
export const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

type Merchant = Awaited<ReturnType<TestApp['merchant']>>

/** Inserts a draft application of a merchant, as POST /lending-application does. Returns its id. */
export async function insertDraft(app: TestApp, { id: merchantId }: Merchant, change: Partial<LendingApplication> = {}): Promise<string> {
  const now = app.deps.clock.now()
  const application: LendingApplication = {
    id: app.deps.newId('lendingApplication'),
    merchantId,
    cohort: 'US_COMPANY',
    tier: 'TIER_1_REFERRAL',
    status: 'DRAFT',
    requestedAmountUsd: 1_000_000,
    requestedTermMonths: 12,
    purposeCode: 'INVENTORY',
    selectedTier1Partner: null,
    selectedTier2Partner: null,
    documentationCompleted: null,
    reason: null,
    partnerExternalRef: null,
    submittedAt: null,
    decidedAt: null,
    queuedAt: 0,
    createdBy: merchantId,
    createdAt: now,
    updatedAt: now,
    version: 1,
    ...change,
  }
  await app.deps.db.write(async (tx) => void (await tx.insert(lendingApplications).values(application)))
  return application.id
}

/** Creates a merchant with an approved business and a draft application, and an operator. */
export async function borrower(app: TestApp) {
  const [merchant, operator] = [await app.merchant(), await app.superAdmin()]
  await approveBusiness(app, merchant, operator)
  return { merchant, operator, id: await insertDraft(app, merchant) }
}

export const documentPath = (id: string, key: string) => `/lending-application/${id}/documents/${key}`

/** Returns a file of this size that starts like a PDF. */
export const pdf = (bytes = 1_000): Buffer => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(Math.max(0, bytes - 9), 'text ')])
export const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
export const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), Buffer.from('JFIF\0'), Buffer.alloc(200)])
export const csv = Buffer.from('date,amount\n2026-01-31,"1,000.00"\n2026-02-28,Zürich €\n')

type Entry = { name: string; content: Buffer; store?: true; declared?: number }
/** Writes a zip file by hand, so that it can declare wrong sizes. */
export function zip(entries: readonly Entry[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const { name, content, store, declared } of entries) {
    const packed = store ? content : deflateRawSync(content)
    const sizes = Buffer.alloc(12)
    sizes.writeUInt32LE(Bun.hash.crc32(content), 0)
    sizes.writeUInt32LE(packed.length, 4)
    sizes.writeUInt32LE(declared ?? content.length, 8)
    const names = Buffer.from([name.length, 0, 0, 0])
    const how = Buffer.from([20, 0, 0, 0, store ? 0 : 8, 0, 0, 0, 0, 0])
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), how, sizes, names, Buffer.from(name), packed])
    const at = Buffer.alloc(4)
    at.writeUInt32LE(offset)
    centrals.push(
      Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), how, sizes, names, Buffer.alloc(10), at, Buffer.from(name)]),
    )
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, central, end])
}
const contentTypes = (main: string) =>
  Buffer.from(
    `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="${main}.main+xml"/></Types>`,
  )
export const workbookTypes: Entry = { name: '[Content_Types].xml', content: contentTypes(xlsxType) }
export const docxTypes: Entry = {
  name: '[Content_Types].xml',
  content: contentTypes('application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
}
export const sheet: Entry = { name: 'xl/worksheets/sheet1.xml', content: Buffer.from('<worksheet/>') }
export const xlsx = zip([workbookTypes, sheet])

/** Returns the stored `documentationCompleted` of an application. */
export async function documentationOf(app: TestApp, id: string) {
  return (await app.deps.lendingStore.find(id))?.documentationCompleted
}

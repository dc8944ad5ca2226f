import type { CsvRecord, InvalidRow, RowNote } from '../../../core/csv-records.ts'
import { AppError } from '../../../core/errors.ts'
import { unescaped } from '../../../lib/csv-line.ts'
import { isMailAddress } from '../../../lib/mail-address.ts'
import type { Optional } from '../../../lib/objects.ts'
import { distinctTags } from '../../../lib/search-terms.ts'
import { normalEmail } from '../../identity/auth/domain.ts'
import { isCountry } from '../../shop/countries/domain.ts'
import { type AddressFields, addressOf, type Customer, noteLengthMax, type Profile, tagLengthMax, tagsMax } from './domain.ts'

/** The columns that are imported, with their names in Shopify's current and former exports and in souk's. */
const aliases = {
  email: ['Email'],
  name: ['Name'],
  firstName: ['First Name'],
  lastName: ['Last Name'],
  phone: ['Phone'],
  acceptsMarketing: ['Accepts Email Marketing', 'Accepts Marketing'],
  company: ['Default Address Company', 'Company'],
  line1: ['Default Address Address1', 'Address1'],
  line2: ['Default Address Address2', 'Address2'],
  city: ['Default Address City', 'City'],
  province: ['Default Address Province Code', 'Province Code'],
  countryCode: ['Default Address Country Code', 'Country Code'],
  postalCode: ['Default Address Zip', 'Zip'],
  addressPhone: ['Default Address Phone'],
  note: ['Note'],
  tags: ['Tags'],
} as const satisfies Record<string, readonly string[]>
type Field = keyof typeof aliases

const lengths = {
  email: 254,
  name: 200,
  firstName: 200,
  lastName: 200,
  phone: 40,
  acceptsMarketing: 20,
  company: 200,
  line1: 200,
  line2: 200,
  city: 100,
  province: 100,
  countryCode: 2,
  postalCode: 20,
  addressPhone: 40,
  note: noteLengthMax,
  tags: 65_000,
} as const satisfies Record<Field, number>

const normalName = (name: string): string => name.replace(/[\s_-]+/g, '').toLowerCase()
const fieldByName = new Map(
  (Object.entries(aliases) as [Field, readonly string[]][]).flatMap(([field, names]) =>
    names.map((name) => [normalName(name), field] as const),
  ),
)

/** Index and name of each column, and the names of ignored ones. */
type Columns = {
  readonly count: number
  readonly at: ReadonlyMap<Field, { readonly index: number; readonly label: string }>
  readonly ignored: readonly string[]
}

const columnsMax = 500
const labelMax = 100

/** @throws AppError INVALID for a header without an e-mail column or with a repeated column */
export function parseHeader({ cells }: CsvRecord): Columns {
  if (cells.length > columnsMax) throw new AppError('INVALID', `The header has more than ${columnsMax} columns`)
  const at = new Map<Field, { index: number; label: string }>()
  const ignored: string[] = []
  for (const [index, cell] of cells.entries()) {
    const label = cell.trim()
    const field = fieldByName.get(normalName(label))
    if (!field) {
      if (label !== '') ignored.push(label.slice(0, labelMax))
      continue
    }
    if (at.has(field))
      throw new AppError(
        'INVALID',
        `The header has the column ${aliases[field].map((name) => `"${name}"`).join(' or ')} twice. Remove one of the two columns`,
      )
    at.set(field, { index, label })
  }
  if (!at.has('email')) throw new AppError('INVALID', 'The header has no "Email" column: the first row must name the columns')
  return { count: cells.length, at, ignored }
}

/** A customer in the file. Undefined: no column. Null or blank: a blank cell. */
export type ImportedCustomer = Readonly<Optional<Profile & Pick<Customer, 'note' | 'tags'>>> & {
  readonly row: number
  readonly email: string
  readonly address: AddressFields | undefined
  /** Values of the row that are not imported. */
  readonly notices: readonly RowNote[]
}

class Fault extends Error {
  constructor(
    readonly column: string | undefined,
    message: string,
  ) {
    super(message)
  }
}

/** Reads a cell. Exports escape formulas, and some prefix digits with an apostrophe to keep a phone number as text. */
const cellText = (cell: string): string =>
  unescaped(cell)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^'(?=\d)/, '')
/** Reads a cell whose lines are kept. */
const linesText = (cell: string): string => unescaped(cell).replace(/\r\n?/g, '\n').trim()

const yesWords = new Set(['yes', 'true', '1', 'subscribed'])
const noWords = new Set(['no', 'false', '0', '', 'not_subscribed', 'unsubscribed'])

/** Reads a row of the file, or returns its error. */
export function parseRow(columns: Columns, { row, cells }: CsvRecord): ImportedCustomer | InvalidRow {
  try {
    if (cells.length > columns.count)
      throw new Fault(
        undefined,
        `has ${cells.length} cells, but the header has ${columns.count}: put cells that contain the separator in quotes`,
      )
    return readRow(columns, row, cells)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { error: { row, ...(error.column === undefined ? {} : { column: error.column }), message: error.message } }
  }
}

function readRow(columns: Columns, row: number, cells: readonly string[]): ImportedCustomer {
  const labelOf = (field: Field) => columns.at.get(field)?.label ?? aliases[field][0]
  const cell = (field: Field): string | undefined => {
    const found = columns.at.get(field)
    if (!found) return undefined
    const text = (field === 'note' ? linesText : cellText)(cells[found.index] ?? '')
    if (text.length > lengths[field]) throw new Fault(found.label, `must have at most ${lengths[field]} characters`)
    return text
  }
  const email = cell('email') ?? ''
  if (email === '') throw new Fault(labelOf('email'), 'must not be blank: customers are matched by it')
  if (!isMailAddress(email)) throw new Fault(labelOf('email'), 'must be an e-mail address')
  const [first, last] = [cell('firstName'), cell('lastName')]
  const name = cell('name') ?? (first === undefined && last === undefined ? undefined : [first, last].filter(Boolean).join(' '))
  if (name !== undefined && name.length > lengths.name)
    throw new Fault(labelOf('lastName'), `with the first name, must have at most ${lengths.name} characters`)
  const [phone, note] = [cell('phone'), cell('note')]
  const marketing = cell('acceptsMarketing')?.toLowerCase()
  if (marketing !== undefined && !yesWords.has(marketing) && !noWords.has(marketing))
    throw new Fault(labelOf('acceptsMarketing'), 'must be yes or no')
  const { address, notices } = parseAddress(row, cell, name, labelOf)
  const { tags, notices: tagNotices } = parseTags(cell('tags'), { row, column: labelOf('tags') })
  return {
    row,
    email: normalEmail(email),
    name,
    phone: phone === '' ? null : phone,
    acceptsMarketing: marketing === undefined ? undefined : yesWords.has(marketing),
    note: note === '' ? null : note,
    tags,
    address,
    notices: [...notices, ...tagNotices],
  }
}

/** Reads tags, separated by commas (Shopify) or semicolons (souk). Leaves out those that a customer cannot have. */
function parseTags(text: string | undefined, at: Omit<RowNote, 'message'>): { tags: string[] | undefined; notices: RowNote[] } {
  if (text === undefined) return { tags: undefined, notices: [] }
  const all = distinctTags(text.split(/[,;]/))
  const valid = all.filter((tag) => tag.length <= tagLengthMax)
  const notices = [
    ...(valid.length < all.length ? [`has tags of more than ${tagLengthMax} characters: they were not imported`] : []),
    ...(valid.length > tagsMax ? [`has more than ${tagsMax} tags: only the first ${tagsMax} were imported`] : []),
  ]
  return { tags: valid.slice(0, tagsMax), notices: notices.map((message) => ({ ...at, message })) }
}

/** Leaves out an incomplete address with a notice, and imports the customer anyway. */
function parseAddress(
  row: number,
  cell: (field: Field) => string | undefined,
  name: string | undefined,
  labelOf: (field: Field) => string,
): { address: AddressFields | undefined; notices: RowNote[] } {
  const company = cell('company') || null
  const line1 = cell('line1') ?? ''
  const city = cell('city') ?? ''
  const countryCode = (cell('countryCode') ?? '').toUpperCase()
  const more = { company, line2: cell('line2') || null, province: cell('province') || null, postalCode: cell('postalCode') || null }
  const addressee = name || company || ''
  const isBlank = line1 === '' && city === '' && more.postalCode === null
  if (isBlank) return { address: undefined, notices: [] }
  const leaveOut = (field: Field, what: string) => ({
    address: undefined,
    notices: [{ row, column: labelOf(field), message: `${what}: the address was not imported` }],
  })
  if (line1 === '') return leaveOut('line1', 'is blank')
  if (city === '') return leaveOut('city', 'is blank')
  if (addressee === '') return leaveOut('firstName', 'is blank, and there is no company')
  if (!isCountry(countryCode)) return leaveOut('countryCode', 'must be a country code such as US')
  return { address: addressOf({ name: addressee, line1, city, countryCode, ...more, phone: cell('addressPhone') || null }), notices: [] }
}

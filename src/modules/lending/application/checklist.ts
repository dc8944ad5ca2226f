/** The documents that an application requires: data, and pure functions that merge it. */
import type { KybCohort } from '../../shop/kyb/domain.ts'
import type { LendingApplication, Tier1Partner } from './domain.ts'

const pdf = 'application/pdf'
const jpeg = 'image/jpeg'
const png = 'image/png'
const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const csv = 'text/csv'

/** The file types and the size limit of each class of documents. */
const documentClasses = {
  identity: { acceptedMimeTypes: [pdf, jpeg, png], maxSizeMb: 5 },
  legal: { acceptedMimeTypes: [pdf, jpeg, png], maxSizeMb: 10 },
  accounts: { acceptedMimeTypes: [pdf, xlsx, csv], maxSizeMb: 25 },
} as const
type DocumentClass = keyof typeof documentClasses

type DocumentKind = { readonly class: DocumentClass; readonly label: string; readonly description: string }
const identity = (label: string, description: string): DocumentKind => ({ class: 'identity', label, description })
const legal = (label: string, description: string): DocumentKind => ({ class: 'legal', label, description })
const accounts = (label: string, description: string): DocumentKind => ({ class: 'accounts', label, description })

/** Every document that an application may require. Merchants read the labels and descriptions. */
export const documentKinds = {
  bank_statements_12m: accounts(
    'Bank statements, 12 months',
    'Statements of every business account for the last twelve full months, as your bank issues them.',
  ),
  owner_id: identity(
    'Identity of the owners',
    'A passport or national identity card, both sides, of everybody who owns a quarter of the business or more.',
  ),
  ubo_declaration: legal(
    'Declaration of beneficial owners',
    'A signed statement that names every person who ultimately owns or controls the business, with their shares.',
  ),
  proof_of_address: legal(
    'Proof of address',
    'A utility bill, bank letter or lease not older than three months that shows the address of the business.',
  ),

  business_plan: legal('Business plan', 'What the loan is for, and how it is to be paid back.'),
  lease_agreement: legal('Lease agreement', 'The lease of your shop, office or warehouse.'),
  special_licence: legal('Special licence', 'Any further permit that your trade needs, for instance for food, pharmacy or jewellery.'),
  processor_statements_6m: accounts(
    'Payment processor statements, 6 months',
    'What your payment processors paid out in the last six full months, as they report it.',
  ),

  trade_licence: legal('Trade licence', 'The valid licence of the department of economy of your emirate.'),
  memorandum_of_association: legal('Memorandum of association', 'The notarised memorandum with all of its amendments.'),
  emirates_id_owners: identity('Emirates ID of the owners', 'Both sides of the valid Emirates ID of every owner who is a resident.'),
  audited_financials_2y: accounts(
    'Audited financial statements, 2 years',
    'Balance sheet, income statement and auditor’s report of the last two financial years.',
  ),
  vat_certificate: legal('VAT certificate', 'The certificate by which the tax authority registered the business for value added tax.'),
  freezone_licence: legal('Free-zone licence', 'The valid licence of the authority of your free zone.'),
  incorporation_certificate: legal('Certificate of incorporation', 'The certificate by which the register made the company.'),
  incumbency_certificate_3m: legal(
    'Certificate of incumbency',
    'Names directors, secretary and shareholders; issued within the last three months.',
  ),
  share_certificate: legal('Share certificate', 'The certificates of all shares that are issued.'),
  commercial_registration: legal('Commercial registration', 'The valid commercial registration of the ministry of commerce.'),
  articles_of_association: legal('Articles of association', 'The articles with all of their amendments.'),
  social_insurance_certificate: legal(
    'Social insurance certificate',
    'Says that contributions for your employees are paid; the latest that you have.',
  ),
  national_address: legal('National address', 'The registration of the national address of the business.'),
  commercial_licence: legal('Commercial licence', 'The valid licence of the ministry of commerce.'),
  signatory_certificate: legal('Certificate of authorised signatories', 'Says who may sign for the company, and for what.'),
  civil_id_owners: identity('Civil ID of the owners', 'Both sides of the valid civil ID of every owner.'),
  state_registration: legal('State registration certificate', 'The certificate of the state registration office.'),
  notarised_charter: legal('Charter, notarised', 'The charter of the company, certified by a notary.'),
  loan_resolution: legal('Resolution to borrow', 'The resolution of the shareholders or the board to take this loan.'),
  tax_reference: legal('Tax reference', 'A letter of the tax office that says whether taxes are owed.'),
  prior_year_financials: accounts(
    'Financial statements of last year',
    'Balance sheet and income statement of the last financial year, as they were filed.',
  ),
  collateral_list: accounts('List of collateral', 'What you offer as security, with what each piece is worth and where it is.'),
  citizen_id: identity('Citizen identity card', 'Both sides of your valid citizen identity card.'),
  income_proof: accounts(
    'Proof of income',
    'What you earned in the last twelve months: tax records, social insurance records or an account statement.',
  ),
  collateral_ownership: legal('Ownership of the collateral', 'Certificates that show that what you offer as security is yours.'),
  formation_articles: legal('Articles of formation', 'Articles of incorporation or organisation as the state filed them.'),
  ein_letter: legal('EIN letter', 'The letter of the IRS that assigned the employer identification number.'),
  operating_agreement: legal('Operating agreement or bylaws', 'The agreement of the members, or the bylaws of the corporation.'),
  tax_returns_3y: accounts('Tax returns, 3 years', 'Federal returns of the last three years, with all schedules.'),
  pnl_balance_ytd: accounts(
    'Profit and loss and balance sheet, year to date',
    'From the beginning of this financial year to the end of last month.',
  ),
  debt_schedule: accounts('Schedule of debts', 'Every loan, lease and credit line: lender, balance, instalment and end.'),
  personal_financial_statement: accounts('Personal financial statement', 'What every owner of a fifth or more owns, owes and earns.'),
  government_id: identity('Government-issued identity', 'A driver’s licence, state ID or passport of yours that is valid.'),
  assumed_name_certificate: legal('Assumed name certificate', 'The registration of the name under which you trade (DBA).'),
  psc_register: legal('Register of people with significant control', 'The register as it stands today.'),
  statutory_accounts_2y: accounts('Statutory accounts, 2 years', 'The accounts of the last two financial years as they were filed.'),
  vat_returns_4q: accounts('VAT returns, 4 quarters', 'The returns of the last four quarters as they were filed.'),
  register_extract_3m: legal('Extract of the commercial register', 'Issued within the last three months.'),
  ubo_extract: legal('Extract of the register of beneficial owners', 'As the register of your country issues it.'),
  annual_accounts_2y: accounts('Annual accounts, 2 years', 'The accounts of the last two financial years as they were adopted.'),
  registry_profile_3m: legal('Business profile', 'The profile of the company that the registry issues, not older than three months.'),
  constitution: legal('Constitution', 'The constitution of the company with all of its amendments.'),
  tax_assessments_2y: accounts('Tax assessments, 2 years', 'The notices of assessment of the last two years.'),
  good_standing_6m: legal('Certificate of good standing', 'Issued by the register within the last six months.'),
  certified_translations: legal('Certified translations', 'Of every document that is not in English, by a sworn translator.'),

  stock_count_report: accounts('Stock count report', 'What is in stock, counted within the last three months, with what each item cost.'),
  warehouse_receipts: legal('Warehouse receipts', 'For goods that a warehouse keeps for you.'),
  direct_debit_mandate: legal('Direct debit mandate', 'Signed by whoever may sign for the business account.'),
  collateral_valuation: legal('Valuation of the collateral', 'By an independent valuer, not older than six months.'),
  title_search: legal('Title search', 'Shows who owns the collateral, and who has a claim on it.'),
  insurance_policy: legal('Insurance policy', 'Of the collateral, with what it covers and until when.'),
  supplier_proforma: legal('Pro-forma invoice of the supplier', 'For the goods that the loan is to pay for.'),
  promissory_note: legal('Promissory note', 'In the form of the partner, signed by whoever may sign for the business.'),
  agency_agreement: legal('Agency agreement', 'By which the partner buys the goods on your behalf.'),
} as const satisfies Record<string, DocumentKind>
export type DocumentKey = keyof typeof documentKinds

export type ChecklistEntry = { readonly key: DocumentKey; readonly required: boolean }

const required = (...keys: readonly DocumentKey[]): readonly ChecklistEntry[] => keys.map((key) => ({ key, required: true }))

export const coreDocuments = required('bank_statements_12m', 'owner_id', 'ubo_declaration', 'proof_of_address')

export const cohortDocuments = {
  UAE_MAINLAND: required('trade_licence', 'memorandum_of_association', 'emirates_id_owners', 'audited_financials_2y', 'vat_certificate'),
  UAE_FREEZONE: required(
    'freezone_licence',
    'incorporation_certificate',
    'incumbency_certificate_3m',
    'share_certificate',
    'emirates_id_owners',
  ),
  KSA_COMPANY: required(
    'commercial_registration',
    'articles_of_association',
    'vat_certificate',
    'social_insurance_certificate',
    'national_address',
  ),
  KUWAIT_WLL: required('commercial_licence', 'articles_of_association', 'signatory_certificate', 'civil_id_owners'),
  MN_LLC: required(
    'state_registration',
    'notarised_charter',
    'loan_resolution',
    'tax_reference',
    'prior_year_financials',
    'collateral_list',
  ),
  MN_SOLE: required('citizen_id', 'income_proof', 'collateral_ownership'),
  US_COMPANY: required(
    'formation_articles',
    'ein_letter',
    'operating_agreement',
    'tax_returns_3y',
    'pnl_balance_ytd',
    'debt_schedule',
    'personal_financial_statement',
  ),
  US_SOLE_PROP: required('government_id', 'assumed_name_certificate', 'tax_returns_3y', 'personal_financial_statement'),
  UK_LTD: required('incorporation_certificate', 'psc_register', 'statutory_accounts_2y', 'vat_returns_4q'),
  EU_COMPANY: required('register_extract_3m', 'ubo_extract', 'annual_accounts_2y'),
  SG_PTE: required('registry_profile_3m', 'constitution', 'tax_assessments_2y'),
  INTL_OTHER: required('incorporation_certificate', 'good_standing_6m', 'certified_translations'),
} as const satisfies Record<KybCohort, readonly ChecklistEntry[]>

/** Documents that every applicant may upload and none has to. */
export const optionalDocuments: readonly ChecklistEntry[] = (
  ['business_plan', 'lease_agreement', 'special_licence', 'processor_statements_6m'] as const
).map((key) => ({ key, required: false }))

/** Documents that a Tier-1 partner requires in addition. */
export const partnerDocuments = {
  HARBOR_INVENTORY: required('stock_count_report', 'warehouse_receipts'),
  MERIDIAN_REVENUE: required('processor_statements_6m', 'direct_debit_mandate'),
  KEYSTONE_SECURED: required('collateral_valuation', 'title_search', 'insurance_policy'),
  CARAVAN_TRADE: required('supplier_proforma', 'promissory_note', 'agency_agreement'),
} as const satisfies Record<Tier1Partner, readonly ChecklistEntry[]>

/** Merges lists. Each key stays at its first position and is required if any list requires it. */
export function mergeDocuments(...lists: readonly (readonly ChecklistEntry[])[]): ChecklistEntry[] {
  const merged = new Map<DocumentKey, ChecklistEntry>()
  for (const { key, required } of lists.flat()) merged.set(key, { key, required: required || merged.get(key)?.required === true })
  return [...merged.values()]
}

/** Returns the media types that a document accepts, or undefined for an unknown key. */
export const acceptedTypes = (key: string): readonly string[] | undefined =>
  Object.hasOwn(documentKinds, key) ? documentClasses[documentKinds[key as DocumentKey].class].acceptedMimeTypes : undefined

/** The fields that decide which documents an application requires. */
type ChecklistInput = Pick<LendingApplication, 'cohort' | 'selectedTier1Partner' | 'selectedTier2Partner'>

/** Returns all documents of an application, required and optional. */
export const documentsOf = ({ cohort, selectedTier1Partner: partner }: Omit<ChecklistInput, 'selectedTier2Partner'>): ChecklistEntry[] =>
  mergeDocuments(coreDocuments, cohortDocuments[cohort], partner === null ? [] : partnerDocuments[partner], optionalDocuments)

/** Builds the checklist that the API returns. Tier-2 partners have no documents of their own. */
export const checklistOf = (application: ChecklistInput) => ({
  cohort: application.cohort,
  partner: application.selectedTier1Partner ?? application.selectedTier2Partner ?? '',
  items: documentsOf(application).map(({ key, required }) => {
    const { class: kind, label, description } = documentKinds[key]
    const { acceptedMimeTypes, maxSizeMb } = documentClasses[kind]
    return { key, label, description, required, acceptedMimeTypes: [...acceptedMimeTypes], maxSizeMb }
  }),
})
export type Checklist = ReturnType<typeof checklistOf>

/** The status of a documentation item whose file was uploaded. */
export const uploadedStatus = 'UPLOADED'

/** Lists the required documents that are not uploaded, in checklist order. */
export function missingDocuments(application: ChecklistInput & Pick<LendingApplication, 'documentationCompleted'>): DocumentKey[] {
  const items = application.documentationCompleted?.items ?? []
  const present = new Set(items.filter(({ status }) => status === uploadedStatus).map(({ key }) => key))
  return documentsOf(application).flatMap(({ key, required }) => (required && !present.has(key) ? [key] : []))
}

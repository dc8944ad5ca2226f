import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type ChecklistEntry,
  checklistOf,
  cohortDocuments,
  coreDocuments,
  type DocumentKey,
  documentKinds,
  documentsOf,
  mergeDocuments,
  missingDocuments,
  optionalDocuments,
  partnerDocuments,
} from '../../../../src/modules/lending/application/checklist.ts'
import { tier1Partners } from '../../../../src/modules/lending/application/domain.ts'
import { kybCohorts } from '../../../../src/modules/shop/kyb/domain.ts'

/** The documents of section 6 of the contract. */
const contract = {
  core: 'bank_statements_12m owner_id ubo_declaration proof_of_address',
  optional: 'business_plan lease_agreement special_licence processor_statements_6m',
  UAE_MAINLAND: 'trade_licence memorandum_of_association emirates_id_owners audited_financials_2y vat_certificate',
  UAE_FREEZONE: 'freezone_licence incorporation_certificate incumbency_certificate_3m share_certificate emirates_id_owners',
  KSA_COMPANY: 'commercial_registration articles_of_association vat_certificate social_insurance_certificate national_address',
  KUWAIT_WLL: 'commercial_licence articles_of_association signatory_certificate civil_id_owners',
  MN_LLC: 'state_registration notarised_charter loan_resolution tax_reference prior_year_financials collateral_list',
  MN_SOLE: 'citizen_id income_proof collateral_ownership',
  US_COMPANY: 'formation_articles ein_letter operating_agreement tax_returns_3y pnl_balance_ytd debt_schedule personal_financial_statement',
  US_SOLE_PROP: 'government_id assumed_name_certificate tax_returns_3y personal_financial_statement',
  UK_LTD: 'incorporation_certificate psc_register statutory_accounts_2y vat_returns_4q',
  EU_COMPANY: 'register_extract_3m ubo_extract annual_accounts_2y',
  SG_PTE: 'registry_profile_3m constitution tax_assessments_2y',
  INTL_OTHER: 'incorporation_certificate good_standing_6m certified_translations',
  HARBOR_INVENTORY: 'stock_count_report warehouse_receipts',
  MERIDIAN_REVENUE: 'processor_statements_6m direct_debit_mandate',
  KEYSTONE_SECURED: 'collateral_valuation title_search insurance_policy',
  CARAVAN_TRADE: 'supplier_proforma promissory_note agency_agreement',
}
const identity = 'owner_id emirates_id_owners civil_id_owners citizen_id government_id'.split(' ')
const accounts =
  /^(bank_statements_12m|processor_statements_6m|.*_financials.*|.*_accounts.*|tax_returns_3y|tax_assessments_2y|vat_returns_4q|pnl_balance_ytd|debt_schedule|personal_financial_statement|income_proof|collateral_list|stock_count_report)$/

const choices = kybCohorts.flatMap((cohort) => [null, ...tier1Partners].map((selectedTier1Partner) => ({ cohort, selectedTier1Partner })))
const requiredOf = (documents: readonly ChecklistEntry[]) => documents.flatMap(({ key, required }) => (required ? [key as string] : []))

test('every cohort and partner requires the documents of the contract', () => {
  const lists = { core: coreDocuments, optional: optionalDocuments, ...cohortDocuments, ...partnerDocuments }
  expect(Object.fromEntries(Object.entries(lists).map(([name, documents]) => [name, documents.map(({ key }) => key).join(' ')]))).toEqual(
    contract,
  )
  const keys = (...names: (keyof typeof contract)[]) => names.flatMap((name) => contract[name].split(' '))
  for (const choice of choices) {
    const { cohort, selectedTier1Partner: partner } = choice
    const needed = new Set(keys('core', cohort, ...(partner ? [partner] : [])))
    expect([choice, new Set(requiredOf(documentsOf(choice)))]).toEqual([choice, needed])
    expect([choice, new Set(documentsOf(choice).map(({ key }) => key as string))]).toEqual([
      choice,
      new Set([...needed, ...keys('optional')]),
    ])
  }
})

test('every key of a checklist occurs once, with a label, a description and the file types of its class', () => {
  for (const choice of choices) {
    const { items } = checklistOf({ ...choice, selectedTier2Partner: null })
    expect(new Set(items.map(({ key }) => key)).size).toBe(items.length)
    for (const { key, label, description, acceptedMimeTypes, maxSizeMb } of items) {
      expect(label).toMatch(/^[A-Z]/)
      expect(description).toMatch(/^[A-Z].{10,}\.$/)
      const types = [acceptedMimeTypes.map((type) => type.replace(/.*[/.]/, '')).join(' '), maxSizeMb]
      if (identity.includes(key)) expect([key, ...types]).toEqual([key, 'pdf jpeg png', 5])
      else if (accounts.test(key)) expect([key, ...types]).toEqual([key, 'pdf sheet csv', 25])
      else expect([key, ...types]).toEqual([key, 'pdf jpeg png', 10])
    }
  }
})

test('every document is in a checklist, and labels are unique', () => {
  const inChecklists = new Set(choices.flatMap((choice) => documentsOf(choice).map(({ key }) => key)))
  expect([...inChecklists].sort()).toEqual((Object.keys(documentKinds) as DocumentKey[]).sort())
  expect(new Set(Object.values(documentKinds).map(({ label }) => label)).size).toBe(Object.keys(documentKinds).length)
})

describe('merged lists', () => {
  const list = fc.array(
    fc.record({ key: fc.constantFrom(...(Object.keys(documentKinds).slice(0, 8) as DocumentKey[])), required: fc.boolean() }),
    { maxLength: 12 },
  )

  test('a merged list has each document once, and a document is required if either list requires it', () => {
    fc.assert(
      fc.property(list, list, (base, partnerList) => {
        const [alone, merged] = [mergeDocuments(base), mergeDocuments(base, partnerList)]
        const keys = merged.map(({ key }) => key)
        expect(new Set(keys)).toEqual(new Set([...base, ...partnerList].map(({ key }) => key)))
        expect(keys).toHaveLength(new Set(keys).size)
        expect(keys.slice(0, alone.length)).toEqual(alone.map(({ key }) => key))
        expect(requiredOf(merged)).toEqual(expect.arrayContaining(requiredOf(alone)))
        expect(new Set(requiredOf(merged))).toEqual(new Set([...requiredOf(base), ...requiredOf(partnerList)]))
      }),
    )
  })
})

describe('missing documents', () => {
  const application = (items: { key: string; status: string }[], selectedTier1Partner: (typeof tier1Partners)[number] | null = null) => ({
    cohort: 'MN_SOLE' as const,
    selectedTier1Partner,
    selectedTier2Partner: null,
    documentationCompleted: { items },
  })
  const all = [...contract.core.split(' '), ...contract.MN_SOLE.split(' ')]
  const uploaded = (keys: readonly string[]) => keys.map((key) => ({ key, status: 'UPLOADED' }))

  test('every required document that is not UPLOADED is missing, whatever else is stored about it', () => {
    expect(missingDocuments({ ...application([]), documentationCompleted: null }).map(String)).toEqual(all)
    expect(missingDocuments({ ...application([]), documentationCompleted: {} }).map(String)).toEqual(all)
    expect(missingDocuments(application(uploaded(all)))).toEqual([])
    for (const status of ['uploaded', 'PENDING', '']) {
      const items = [...uploaded(all.slice(1)), { key: all[0] ?? '', status }]
      expect([status, missingDocuments(application(items)).map(String)]).toEqual([status, [all[0] ?? '']])
    }
    expect(missingDocuments(application(uploaded([...all, 'business_plan', 'a_drawing'])))).toEqual([])
  })

  test('the chosen partner decides what is missing', () => {
    const items = uploaded(all)
    expect(missingDocuments(application(items, 'MERIDIAN_REVENUE'))).toEqual(['processor_statements_6m', 'direct_debit_mandate'])
    expect(missingDocuments(application(items, 'HARBOR_INVENTORY'))).toEqual(['stock_count_report', 'warehouse_receipts'])
    expect(missingDocuments({ ...application(items), selectedTier2Partner: 'MERIDIAN_REVENUE' })).toEqual([])
  })
})

test('the checklist names the chosen partner, Tier 1 before Tier 2, and none without a choice', () => {
  const partnerOf = (selectedTier1Partner: 'CARAVAN_TRADE' | null, selectedTier2Partner: string | null) =>
    checklistOf({ cohort: 'UK_LTD', selectedTier1Partner, selectedTier2Partner }).partner
  expect([partnerOf(null, null), partnerOf(null, 'acme'), partnerOf('CARAVAN_TRADE', null), partnerOf('CARAVAN_TRADE', 'acme')]).toEqual([
    '',
    'acme',
    'CARAVAN_TRADE',
    'CARAVAN_TRADE',
  ])
})

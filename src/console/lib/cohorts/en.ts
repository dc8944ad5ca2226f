export default {
  UAE_MAINLAND: 'UAE, mainland company',
  UAE_FREEZONE: 'UAE, free-zone company',
  KSA_COMPANY: 'Saudi Arabia, company',
  KUWAIT_WLL: 'Kuwait, W.L.L.',
  MN_LLC: 'Mongolia, LLC',
  MN_SOLE: 'Mongolia, sole trader',
  US_COMPANY: 'United States, company',
  US_SOLE_PROP: 'United States, sole proprietor',
  UK_LTD: 'United Kingdom, Ltd',
  EU_COMPANY: 'European Union, company',
  SG_PTE: 'Singapore, Pte. Ltd.',
  INTL_OTHER: 'Elsewhere',
} as const

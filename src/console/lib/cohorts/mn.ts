import type { Translation } from '../words.ts'
import type en from './en.ts'

export default {
  UAE_MAINLAND: 'АНЭУ, эх газрын компани',
  UAE_FREEZONE: 'АНЭУ, чөлөөт бүсийн компани',
  KSA_COMPANY: 'Саудын Араб, компани',
  KUWAIT_WLL: 'Кувейт, хязгаарлагдмал хариуцлагатай',
  MN_LLC: 'Монгол, ХХК',
  MN_SOLE: 'Монгол, хувиараа эрхлэгч',
  US_COMPANY: 'АНУ, компани',
  US_SOLE_PROP: 'АНУ, хувь эзэмшигч',
  UK_LTD: 'Их Британи, Ltd',
  EU_COMPANY: 'Европын Холбоо, компани',
  SG_PTE: 'Сингапур, Pte. Ltd.',
  INTL_OTHER: 'Бусад улс',
} satisfies Translation<typeof en>

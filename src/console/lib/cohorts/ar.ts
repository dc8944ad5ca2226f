import type { Translation } from '../words.ts'
import type en from './en.ts'

export default {
  UAE_MAINLAND: 'الإمارات، شركة في البر الرئيسي',
  UAE_FREEZONE: 'الإمارات، شركة في منطقة حرة',
  KSA_COMPANY: 'السعودية، شركة',
  KUWAIT_WLL: 'الكويت، ذات مسؤولية محدودة',
  MN_LLC: 'منغوليا، شركة محدودة',
  MN_SOLE: 'منغوليا، تاجر فرد',
  US_COMPANY: 'الولايات المتحدة، شركة',
  US_SOLE_PROP: 'الولايات المتحدة، مالك فرد',
  UK_LTD: 'المملكة المتحدة، شركة محدودة',
  EU_COMPANY: 'الاتحاد الأوروبي، شركة',
  SG_PTE: 'سنغافورة، شركة خاصة محدودة',
  INTL_OTHER: 'في بلد آخر',
} satisfies Translation<typeof en>

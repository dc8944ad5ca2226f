import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'المسوّقون بالعمولة',
  add: 'شريك جديد',
  edit: 'تعديل الشريك',
  made: 'أُنشئ الشريك',
  none: 'لا شركاء بعد',
  noneText: 'يرسل الشريك مشترين بروابط تحمل رمزًا مقابل حصة مما يشترون.',
  codeHint: 'ما تحمله روابطه: حروف وأرقام و- و_.',
  codeChangeHint: 'السلال التي جاءت بالرمز القديم لن تُنسب لأحد بعد تغييره.',
  rate: 'النسبة',
  ratePercent: 'النسبة المئوية',
  rateHint: 'من قيمة البضاعة بعد الخصومات.',
  rateChangeHint: 'النسبة الجديدة للطلبات القادمة.',
  activeHint: 'إن عُطّل لا تُحسب النقرات والطلبات لأحد؛ ويبقى ما كُسب.',
  clicks: 'النقرات، 30 يومًا',
  pending: 'معلّق',
  approved: 'مكتسب',
  reversed: 'مسترجع',
  earningsHint: 'العمولة معلّقة 14 يومًا؛ والمستردات تسترجع حصتها.',
} satisfies Translation<typeof en>

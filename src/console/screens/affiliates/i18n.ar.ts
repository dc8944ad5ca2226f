import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  add: 'إضافة مسوّق بالعمولة',
  edit: 'تعديل المسوّق بالعمولة',
  made: 'تمت إضافة المسوّق بالعمولة',
  none: 'لا يوجد مسوّقون بالعمولة بعد',
  noneText: 'يرسل المسوّقون بالعمولة إليك عملاء برابط تتبع ويكسبون عمولة على مشترياتهم.',
  codeHint: 'يُستخدم في روابطهم: حروف وأرقام و- و_',
  codeChangeHint: 'لن تُحتسب السلات القادمة من روابط الرمز القديم.',
  rate: 'العمولة',
  ratePercent: 'العمولة (%)',
  rateHint: 'من المجموع الفرعي بعد الخصومات',
  rateChangeHint: 'تنطبق على الطلبات الجديدة فقط.',
  activeHint: 'عند التعطيل لا تُحتسب النقرات والطلبات. تبقى العمولات المكتسبة.',
  clicks: 'النقرات (30 يومًا)',
  pending: 'معلّقة',
  approved: 'معتمدة',
  reversed: 'معكوسة',
  earningsHint: 'تُعتمد العمولات بعد 14 يومًا. وتخفّضها عمليات الاسترداد.',
  code: 'رمز الإحالة',
} satisfies Translation<typeof en>

import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'النطاقات',
  subtitle: 'نطاقات واجهة متجرك. وثّقها لتجد صفحات الدفع متجرك.',
  add: 'إضافة نطاق',
  host: 'النطاق',
  hostHint: 'مثل shop.example.com (بدون https://)',
  none: 'لا توجد نطاقات بعد',
  noneText: 'أضف نطاق واجهة متجرك، وأنشئ سجل DNS المعروض هنا، ثم تحقق.',
  added: 'تمت إضافة {host}. أنشئ سجل DNS أدناه.',
  counts: 'موثّق',
  waits: 'بانتظار التحقق',
  verify: 'تحقق',
  writeHint: 'أضف سجل DNS هذا لدى مزوّد النطاق، ثم انقر «تحقق». قد تستغرق التغييرات ساعة.',
  keepHint: 'أبقِ هذا السجل: يُفحص يوميًا، ويُزال النطاق إذا غاب السجل 7 أيام.',
  since: 'تاريخ التوثيق',
  verified: 'تم توثيق {host}',
  removeTitle: 'إزالة {host}؟',
  removeVerified: 'لن تجد صفحات الدفع على هذا النطاق متجرك. تتطلب إضافته مجددًا سجلًا جديدًا.',
  removeUnverified: 'تتطلب إضافته مجددًا سجلًا جديدًا.',
  removed: 'تمت إزالة {host}',
} satisfies Translation<typeof en>

import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  title: 'أسماء المضيف',
  subtitle: 'التي تُفتح بها واجهتك. باسم متحقق منه تجد صفحات الدفع متجرك.',
  add: 'أضف اسم مضيف',
  host: 'اسم المضيف',
  hostHint: 'مثل shop.example.com: بلا https:// وبلا مسار.',
  none: 'لا أسماء مضيف بعد',
  noneText: 'أضف اسم واجهتك، واكتب السجل الذي يعرضه souk في DNS الخاص به، ثم دع souk يتحقق.',
  added: 'أُضيف {host}: اكتب الآن السجل في DNS',
  counts: 'متحقق منه',
  waits: 'غير متحقق منه',
  verify: 'تحقق الآن',
  writeHint: 'اكتب هذا السجل حيث يُدار DNS للاسم، ثم دع souk يتحقق. قد يستغرق ظهوره للجميع ساعة.',
  keepHint: 'أبقِ السجل مكانه: يتحقق souk مرة يوميًا، ويُفقد الاسم إن غاب السجل سبعة أيام.',
  since: 'متحقق منه منذ',
  verified: 'تم التحقق من {host}',
  removeTitle: 'إزالة {host}؟',
  removeVerified: 'لن تجد صفحات الدفع متجرك بهذا الاسم. إن أُضيف مجددًا احتاج إلى سجل آخر.',
  removeUnverified: 'إن أُضيف مجددًا احتاج إلى سجل آخر.',
  removed: 'أُزيل {host}',
} satisfies Translation<typeof en>

import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  hint: 'بعد خمسة إخفاقات متتالية، لا يتلقى المعالج عمليات شراء جديدة حتى ينجح طلب اختبار.',
  host: 'نقطة النهاية',
  failures: 'إخفاقات متتالية',
  since: 'متعثّر منذ',
  probe: 'الاختبار التالي',
  CLOSED: 'سليم',
  OPEN: 'متعثّر',
  HALF_OPEN: 'قيد الاختبار',
  isolated: 'متوقف مؤقتًا منذ {at}',
  isolate: 'إيقاف مؤقت',
  isolateOf: 'إيقاف {name} مؤقتًا',
  restoreOf: 'استئناف {name}',
  isolateText: 'لن تستخدم عمليات الشراء الجديدة {name} حتى تستأنفه. تستمر المدفوعات وعمليات الاسترداد الجارية.',
  done: 'تم إيقاف {name} مؤقتًا',
  undone: 'تم استئناف {name}',
  noHosts: 'لا توجد طلبات بعد',
  restore: 'استئناف',
} satisfies Translation<typeof en>

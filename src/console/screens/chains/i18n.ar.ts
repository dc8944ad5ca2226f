import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  none: 'لم تُضبط أي سلسلة كتل',
  noneText: 'اضبط CHAINS لاحتساب الشهادات من سلسلة كتل.',
  head: 'أحدث كتلة',
  target: 'الكتلة النهائية',
  cursor: 'تمت المزامنة حتى الكتلة',
  lag: 'الكتل المتأخرة',
  synced: 'آخر مزامنة',
  provider: 'عقدة RPC النشطة',
  nodes: 'عُقد RPC',
  error: 'آخر خطأ',
  halted: 'توقفت المزامنة',
  contract: 'العقد الذكي',
  rescan: 'أُعيدت المزامنة حتى الكتلة',
  notConfigured: 'لم تعد ضمن CHAINS. تبقى البيانات الحالية محفوظة.',
  ready: 'جاهزة',
  resting: 'متوقفة مؤقتًا',
  failing: 'متعثّرة',
  inUse: 'قيد الاستخدام',
  failures: 'الإخفاقات',
  backfills: 'عمليات التعبئة الجارية',
  chain: 'السلسلة {id}',
  until: 'حتى {at}',
} satisfies Translation<typeof en>

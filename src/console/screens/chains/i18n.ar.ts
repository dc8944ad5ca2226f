import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  none: 'لا سلسلة متابعة',
  noneText: 'يسمّي CHAINS السلاسل التي تُحصى شهاداتها.',
  head: 'أحدث كتلة',
  target: 'الكتلة النهائية',
  cursor: 'أُحصي حتى',
  lag: 'كتل متأخرة',
  synced: 'آخر قراءة',
  provider: 'العقدة المستخدمة',
  nodes: 'العقد',
  error: 'آخر خطأ',
  halted: 'الإحصاء متوقف',
  contract: 'العقد',
  rescan: 'أُعيدت القراءة حتى',
  notConfigured: 'لم يعد CHAINS يسمّيها: يبقى المحفوظ كما كان.',
  ready: 'جاهزة',
  resting: 'تستريح',
  failing: 'تفشل',
  inUse: 'مستخدمة',
  failures: 'إخفاقات',
  backfills: 'عمليات ملء جارية',
  chain: 'السلسلة {id}',
  until: 'حتى {at}',
} satisfies Translation<typeof en>

import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  off: 'النسخ الاحتياطي معطّل',
  server: 'يتولى مزود قاعدة البيانات النسخ الاحتياطي',
  late: 'النسخ الاحتياطي متأخر',
  lateText: 'يجب إجراء نسخ احتياطي كل {n} ساعة.',
  last: 'آخر نسخة احتياطية',
  took: 'المدة',
  next: 'النسخة الاحتياطية التالية',
  failures: 'الإخفاقات منذ آخر إعادة تشغيل',
  places: 'مواقع النسخ الاحتياطي',
  place: 'الموقع',
  age: 'أحدث نسخة احتياطية',
  running: 'قيد التنفيذ',
  database: 'قاعدة البيانات',
  log: 'سجل الكتابة المسبقة (WAL)',
  damaged: 'الملف تالف',
  intact: 'سليم في آخر فحص',
  shipping: 'النسخ الاحتياطي المستمر',
  shipped: 'آخر رفع',
  every: 'كل {n} ث',
  snapshots: 'اللقطات',
  now: 'إجراء نسخ احتياطي الآن',
  asked: 'بدأ النسخ الاحتياطي',
} satisfies Translation<typeof en>

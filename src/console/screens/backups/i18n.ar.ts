import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  off: 'متوقف: لا يُنسخ شيء',
  server: 'ينسخ خادم قاعدة البيانات من يديره',
  late: 'آخر نسخة قديمة جدًا',
  lateText: 'كان موعدها خلال {n} ساعة.',
  last: 'آخر نسخة',
  took: 'المدة',
  next: 'التالية',
  failures: 'الإخفاقات منذ البدء',
  places: 'الأماكن',
  place: 'المكان',
  age: 'آخر نسخة هناك',
  running: 'جارية',
  database: 'قاعدة البيانات',
  log: 'سجل الكتابات',
  damaged: 'الملف تالف',
  intact: 'سليمة في آخر فحص',
  shipping: 'إرسال السجل',
  shipped: 'آخر إرسال',
  every: 'كل {n} ث',
  snapshots: 'اللقطات',
  now: 'انسخ الآن',
  asked: 'طُلبت نسخة احتياطية',
} satisfies Translation<typeof en>

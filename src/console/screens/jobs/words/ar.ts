import type { Translation } from '../../../lib/words.ts'
import type en from './en.ts'

export default {
  title: 'المهام',
  job: 'المهمة',
  state: 'الحالة',
  last: 'آخر تشغيل',
  next: 'التشغيل التالي',
  took: 'المدة',
  run: 'شغّل الآن',
  runOf: 'شغّل {name} الآن',
  asked: 'طُلب تشغيل {name}',
  idle: 'تنتظر',
  running: 'تعمل',
  stuck: 'عالقة',
  off: 'متوقفة',
  OK: 'نجحت',
  FAILED: 'فشلت',
  LOST: 'فُقدت',
  never: 'لم تعمل بعد',
  schedule: 'الجدول',
  every: 'في كل عملية',
  asks: 'طُلبت في {at}',
  seconds: '{n} ث',
  success: 'آخر نجاح',
} satisfies Translation<typeof en>

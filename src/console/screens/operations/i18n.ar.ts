import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  services: 'الخدمات',
  service: 'الخدمة',
  revision: 'المراجعة',
  running: 'قيد التشغيل',
  desired: 'المطلوب',
  pending: 'قيد البدء',
  steady: 'سليمة',
  rolling: 'قيد النشر',
  degraded: 'متدهورة',
  unknown: 'غير معروفة',
  errors: 'الأخطاء (آخر {n} ساعة)',
  events: 'العدد',
  unresolved: 'غير محلولة',
  last: 'آخر ظهور',
  quiet: 'لا توجد أخطاء',
  quietText: 'لا توجد أخطاء في هذه الفترة',
  deploys: 'عمليات النشر',
  environment: 'البيئة',
  deployed: 'وقت النشر',
  noDeploys: 'لا توجد عمليات نشر',
  noServices: 'لا توجد خدمات',
} satisfies Translation<typeof en>

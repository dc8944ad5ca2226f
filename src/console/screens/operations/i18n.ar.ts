import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  services: 'ما يعمل',
  service: 'الخدمة',
  revision: 'المراجعة',
  running: 'قيد العمل',
  desired: 'المطلوب',
  pending: 'قيد البدء',
  steady: 'مستقرة',
  rolling: 'قيد التبديل',
  degraded: 'متدهورة',
  unknown: 'غير معروفة',
  errors: 'أخطاء آخر {n} ساعة',
  events: 'الأحداث',
  unresolved: 'غير محلولة',
  last: 'آخر ظهور',
  quiet: 'لا أخطاء',
  quietText: 'لم يفشل شيء في هذه الساعات.',
  deploys: 'أحدث عمليات النشر',
  environment: 'البيئة',
  deployed: 'وقت النشر',
  noDeploys: 'لا عمليات نشر معروفة',
  noServices: 'لا خدمات معروفة',
} satisfies Translation<typeof en>

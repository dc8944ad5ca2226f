ALTER TABLE `mails` ADD `recipient` text;--> statement-breakpoint
ALTER TABLE `mails` ADD `cause` text;--> statement-breakpoint
ALTER TABLE `mails` ADD `counted_at` integer;--> statement-breakpoint
CREATE INDEX `mails_shop_counted` ON `mails` (`shop_id`,`counted_at`) WHERE counted_at is not null;--> statement-breakpoint
CREATE INDEX `mails_recipient_counted` ON `mails` (`recipient`,`counted_at`) WHERE counted_at is not null;--> statement-breakpoint
CREATE INDEX `mails_cause_counted` ON `mails` (`cause`,`counted_at`) WHERE counted_at is not null and cause is not null;--> statement-breakpoint
CREATE INDEX `mails_counted` ON `mails` (`counted_at`) WHERE recipient is not null;--> statement-breakpoint
CREATE INDEX `mails_dropped` ON `mails` (`shop_id`,`updated_at`) WHERE status = 'DROPPED';
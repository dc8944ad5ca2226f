CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`shop_id` text,
	`lane` text NOT NULL,
	`template` text NOT NULL,
	`language` text,
	`sealed` text,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `mails_key` ON `mails` (`key`);--> statement-breakpoint
CREATE INDEX `mails_lane` ON `mails` (`lane`,`next_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX `mails_due` ON `mails` (`next_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX `mails_expiry` ON `mails` (`expires_at`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE TABLE `one_time_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`subject_id` text NOT NULL,
	`shop_id` text,
	`address_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `one_time_tokens_subject` ON `one_time_tokens` (`subject_id`,`purpose`);--> statement-breakpoint
CREATE INDEX `one_time_tokens_expiry` ON `one_time_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `shop_mail` (
	`shop_id` text PRIMARY KEY NOT NULL,
	`sender_name` text,
	`reply_to` text,
	`accent_colour` text,
	`background_colour` text,
	`language` text NOT NULL,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;

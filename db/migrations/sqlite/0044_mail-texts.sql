CREATE TABLE `mail_texts` (
	`shop_id` text NOT NULL,
	`template` text NOT NULL,
	`language` text NOT NULL,
	`subject` text,
	`intro` text,
	`closing` text,
	`version` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`shop_id`, `template`, `language`),
	FOREIGN KEY (`shop_id`) REFERENCES `shops`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
ALTER TABLE `shop_mail` ADD `order_mails` text;
# TLS: the certificate made at the start is right, or wrong as ordered. OpenSSL's own client checks.
package MockTest::Tls;

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use IPC::Open2 qw(open2);
use POSIX ();
use RawHttp;
use Test::More;

# Sends a request within TLS; returns what OpenSSL's client gets.
sub ask
{
	my ($port, $request, @options) = @_;
	my $pid = open2(my $out, my $in, 'sh', '-c', 'exec openssl "$@" 2>&1', 'sh', 's_client',
		'-connect', "127.0.0.1:$port", '-verify_return_error', '-verify_ip', '127.0.0.1', '-ign_eof',
		@options);
	local $SIG{PIPE} = 'IGNORE';
	print {$in} $request;
	close $in;
	my $text = do { local $/; <$out> };
	waitpid $pid, 0;
	return $text;
}

sub {
	my ($mock) = @_;
	my $get = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	my @trust = ('-CAfile', $mock->ca_file);

	like(ask($mock->tls_port, $get, @trust), qr{HTTP/1\.1 200 OK.*text-embedding-3-small}s,
		'a request within TLS');
	like(ask($mock->tls_port, $get, @trust, '-tls1_2'), qr{HTTP/1\.1 200 OK}, 'with TLS 1.2');
	like(ask($mock->tls_port, $get, @trust, '-alpn', 'h2,http/1.1'),
		qr{ALPN protocol: http/1\.1.*HTTP/1\.1 200 OK}s, 'HTTP/1.1 is agreed on');
	my $body = '{"model":"mock-1000","input":["' . join('","', 1 .. 1000) . '"]}';
	my $large = ask($mock->tls_port, "POST /v1/embeddings HTTP/1.1\r\nContent-Length: "
		  . length($body) . "\r\nConnection: close\r\n\r\n$body", @trust, '-quiet');
	like($large, qr/"usage":\{"prompt_tokens":1000,"total_tokens":1000\}\}/, 'a large reply');
	cmp_ok(length $large, '>', 11_000_000, 'of many megabytes');
	is($mock->stats->{tls_failures}, 0, 'nobody has turned away');
	is($mock->stats->{connections}, 4, 'connections are counted');

	# The system's authorities do not know this one.
	my $untrusted = ask($mock->tls_port, $get);
	unlike($untrusted, qr{HTTP/1\.1}, 'who does not trust the authority gets nothing');
	like($untrusted, qr/unable to get local issuer certificate|self.signed/, 'and knows why');
	ok($mock->wait_for(tls_failures => 1), 'and that is counted');

	$mock->rules({ hang => 'body', count => 1 }, { close => 'body' });
	my $pid = fork // die "fork: $!";
	if ($pid == 0)
	{
		my $whole = ask($mock->tls_port, $get, @trust) =~ /"text-embedding-ada-002".*\]\}/;
		POSIX::_exit($whole ? 0 : 1);
	}
	ok($mock->wait_for(hanging => 1), 'rules hold within TLS: a reply hangs');
	is($mock->release, 1, 'and is released');
	waitpid $pid, 0;
	is($?, 0, 'and comes whole');
	unlike(ask($mock->tls_port, $get, @trust), qr/\]\}/, 'another breaks off');

	my $plain = RawHttp->connect($mock->tls_port);
	$plain->get('/v1/models');
	unlike($plain->reply->{head} // '', qr/200/, 'without TLS there is nothing');

	my $expired = MockProvider->start(tls => 1, tls_flaw => 'expired');
	like(ask($expired->tls_port, $get, '-CAfile', $expired->ca_file), qr/certificate has expired/,
		'an expired certificate');
	my $elsewhere = MockProvider->start(tls => 1, tls_flaw => 'wrong-host');
	like(ask($elsewhere->tls_port, $get, '-CAfile', $elsewhere->ca_file), qr/IP address mismatch/,
		'a certificate of another host');

	# Certificates may be brought along.
	my $directory = File::Temp->newdir;
	my ($key, $certificate) = ("$directory/key.pem", "$directory/cert.pem");
	system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
		  . " -subj /CN=own -addext 'subjectAltName = IP:127.0.0.1'"
		  . " -keyout $key -out $certificate 2>$directory/log") == 0
	  or die "could not make a certificate: see $directory/log";
	my $own = MockProvider->start(args => [ '--tls-cert', $certificate, '--tls-key', $key ]);
	like(ask($own->tls_port, $get, '-CAfile', $certificate), qr{CN ?= ?own.*HTTP/1\.1 200 OK}s,
		'a certificate of our own');
	return;
};

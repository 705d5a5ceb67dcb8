#!/usr/bin/env python3
"""Slow points of the double pendulum of Ariel, Sanz-Serna and Tsai (section 5.1) over the foot point of its start (29)-(30), with mpmath in
50 digits: the numbers of test_jets in tests/test_slow_series.c.

Taylor arithmetic of its own (lists of coefficients); multipliers lambda^(k) by the recursion of Lubich 1993, Theorem 2.2, to level 12
for omega = 100 and 5 for 1000, where the last two levels change the result by 6e-16 and 3e-24; Newton's iteration on the normal fibre of the
foot point until the steps are below 1e-40. Prints x1, y1, x2, y2 and their velocities. Takes half a minute."""
from mpmath import mp, mpf, matrix, lu_solve, sqrt

mp.dps = 50


def mul(a,b,n): return [sum(a[i]*b[k-i] for i in range(k+1)) for k in range(n)]

def sqr(a,n):
    s=[sqrt(a[0])]
    for k in range(1,n): s.append((a[k]-sum(s[i]*s[k-i] for i in range(1,k)))/(2*s[0]))
    return s

def div(a,b,n):
    c=[]
    for k in range(n): c.append((a[k]-sum(c[i]*b[k-i] for i in range(k)))/b[0])
    return c

def jet(q,v,lam2,N):
    """Taylor coefficients of lambda (orders 0..N) along the motion with A lambda = gamma - rhs, rhs[j] = C lambda'' of the level before"""
    Q=[[q[i]] for i in range(4)]; V=[[v[i]] for i in range(4)]; L=[[],[]]
    for k in range(N+1):
        n=k+1
        d=[Q[0],Q[1],[Q[2][i]-Q[0][i] for i in range(n)],[Q[3][i]-Q[1][i] for i in range(n)]]
        w=[V[0],V[1],[V[2][i]-V[0][i] for i in range(n)],[V[3][i]-V[1][i] for i in range(n)]]
        r=[];u=[];gam=[]
        for b in (0,1):
            dx,dy,wx,wy=d[2*b],d[2*b+1],w[2*b],w[2*b+1]
            rr=sqr([x+y for x,y in zip(mul(dx,dx,n),mul(dy,dy,n))],n); r.append(rr)
            ux,uy=div(dx,rr,n),div(dy,rr,n); u.append((ux,uy))
            ww=[x+y for x,y in zip(mul(wx,wx,n),mul(wy,wy,n))]
            wr=[x+y for x,y in zip(mul(ux,wx,n),mul(uy,wy,n))]
            gam.append(div([x-y for x,y in zip(ww,mul(wr,wr,n))],rr,n))   # d^2|d| = (|w|^2-(u.w)^2)/r + u.d''
        cs=[x+y for x,y in zip(mul(u[0][0],u[1][0],n),mul(u[0][1],u[1][1],n))]
        # G G^T = [[1,-cs],[-cs,2]] ; sum_j cs_j lam_{k-j}
        r0=gam[0][k]-lam2[0][k]+sum(cs[j]*L[1][k-j] for j in range(1,k+1))
        r1=gam[1][k]-lam2[1][k]+sum(cs[j]*L[0][k-j] for j in range(1,k+1))
        c=cs[0]; det=2-c*c
        L[0].append((2*r0+c*r1)/det); L[1].append((c*r0+r1)/det)
        def conv(a,b): return sum(a[j]*b[k-j] for j in range(k+1))
        ax=-conv(u[0][0],L[0])+conv(u[1][0],L[1]); ay=-conv(u[0][1],L[0])+conv(u[1][1],L[1])
        bx=-conv(u[1][0],L[1]); by=-conv(u[1][1],L[1])
        for i,a in enumerate((ax,ay,bx,by)):
            Q[i].append(V[i][k]/(k+1)); V[i].append(a/(k+1))
    return L

def level(K,c,q,v):
    rhs=[[mpf(0)]*(2*K+4) for _ in (0,1)]
    for j in range(K+1):
        N=2*(K-j)+1
        L=jet(q,v,rhs,N)
        rhs=[[c*(i+2)*(i+1)*L[b][i+2] if i+2<=N else mpf(0) for i in range(2*K+4)] for b in (0,1)]
    return L

def bonds(q,v):
    d=[q[0],q[1],q[2]-q[0],q[3]-q[1]]; w=[v[0],v[1],v[2]-v[0],v[3]-v[1]]
    r=[sqrt(d[0]**2+d[1]**2),sqrt(d[2]**2+d[3]**2)]
    G=matrix([[d[0]/r[0],d[1]/r[0],0,0],[-d[2]/r[1],-d[3]/r[1],d[2]/r[1],d[3]/r[1]]])
    return [r[0]-1,r[1]-1],[(d[0]*w[0]+d[1]*w[1])/r[0],(d[2]*w[2]+d[3]*w[3])/r[1]],G
q0=[mpf(1),mpf('0.25'),mpf(2),mpf(0)]; v0=[mpf(0),mpf('-0.5'),mpf(0),mpf('0.5')]
# foot point: X = q0 - G(X)^T mu
X=list(q0)
for it in range(200):
    g,_,G=bonds(X,v0)
    A=G*G.T; res=matrix(g)-G*(matrix(X)-matrix(q0))
    mu=lu_solve(A,res)
    Xn=matrix(q0)-G.T*mu
    step=mp.norm(Xn-matrix(X)); X=list(Xn)
    if step<mpf(10)**-45: break
g,gd,G=bonds(X,v0); V=list(matrix(v0)-G.T*lu_solve(G*G.T,matrix(gd)))
G0=G; A0=G0*G0.T

def slow(om,K):
    c=1/mpf(om)**2; q=list(X); v=list(V)
    for it in range(60):
        L=level(K,c,q,v)
        g,gd,G=bonds(q,v)
        dq=G0.T*lu_solve(A0,matrix([c*L[b][0]-g[b] for b in (0,1)])); q=list(matrix(q)+dq)
        g,gd,G=bonds(q,v)
        dv=G0.T*lu_solve(A0,matrix([c*L[b][1]-gd[b] for b in (0,1)])); v=list(matrix(v)+dv)
        if mp.norm(dq)+mp.norm(dv)<mpf(10)**-40: break
    return q,v
for om in (100,1000):
    old=None
    for K in ((4,6,8,10,12) if om==100 else (2,4,5)):
        q,v=slow(om,K)
        z=q+v
        if old: print(om,K,'change',mp.nstr(max(abs(a-b) for a,b in zip(z,old)),3))
        old=z
    for a in z: print(mp.nstr(a,25))
